"""A seat for a person at a table of bots, in the terminal.

A configuration and the input of the person enter. Deals leave, stored like those of a tournament.
"""
