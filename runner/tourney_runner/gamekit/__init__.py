"""Tools for authors of games: a game to start from, and the check that a game keeps its contract.

A folder or the name of an installed game enters; a package or a report leaves.
"""
