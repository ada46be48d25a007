"""Comparisons of bots: a sequential test of two, or a fixed number of deals for several.

They take a tournament's configuration and the names of bots. They return a result with its
interval.
"""
