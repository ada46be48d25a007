"""Keeping bots in: launchers that confine what they start, and the choice among them."""
