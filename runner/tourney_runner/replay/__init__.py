"""Stored deals, shown step by step in a terminal or fed to a bot again.

A results folder and the number of a deal enter. Frames on the screen leave, or a report of
differences.
"""
