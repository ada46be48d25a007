"""Verification of a results folder: anyone who has the folder can check it.

Enters: a results folder. Leaves: a report of findings with a place and a reason each.
"""
