"""Ratings and standings of bots, computed from finished deals.

It takes the places and points of deals, match by match. It returns ratings with intervals, the
ranking table and the verdicts of sequential tests.
"""
