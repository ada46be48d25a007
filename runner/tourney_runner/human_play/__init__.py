"""A seat for a person at a table of bots, in the terminal.

Enters: a configuration and what the person types. Leaves: deals, stored like any others.
"""
