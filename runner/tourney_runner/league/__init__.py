"""After the run: verifying, ruling on entrants, playing deals again, seasons."""
