"""Comparing bots: matches between two of them until a sequential test decides, and no longer.

Enters: a tournament's configuration and two names. Leaves: a result with its interval.
"""
