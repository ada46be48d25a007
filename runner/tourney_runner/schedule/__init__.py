"""Tournament formats, which plan the rounds and tables of a tournament.

A format takes the entrants, the seed and, where it needs them, the results of finished rounds. It
returns the tables of the next round with every entrant's seat.
"""
