"""Playing: a seat, a deal, a match, and its history."""
