"""Bot processes: starting them, talking to them under a deadline, and leaving nothing behind."""
