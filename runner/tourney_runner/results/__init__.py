"""The results file, which stores the deals, rulings and description of a tournament.

Deals come from the workers, rulings from the organiser. Everything published is computed from what
this package reads.
"""
