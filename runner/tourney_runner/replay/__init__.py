"""Stored deals, shown step by step in a terminal or fed to a bot again.

Enters: a results folder and a deal. Leaves: frames on the screen, or a report of differences.
"""
