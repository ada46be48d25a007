"""How good the bots are, computed from finished deals alone."""
