"""The protocol between the runner and the bots: JSON lines over stdin and stdout."""
