"""Decisions of the organiser after the fact: disqualify, withdraw, play a deal again.

Enters: a results folder and a decision. Leaves: a ruling in the store; deals are never changed.
"""
