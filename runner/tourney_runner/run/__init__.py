"""Conducting a tournament: workers, what they are given to play, and the folder of results."""
