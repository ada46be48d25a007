"""Checks of a tournament for its organiser: results that skill does not explain, and conduct.

Enters: the stored deals of a results folder. Leaves: an `Audit`, which the command line prints.
Nothing of it is published, because an unusual result is a reason to look and not a proof.
"""
