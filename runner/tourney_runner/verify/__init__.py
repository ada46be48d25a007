"""Verification of a results folder, which anyone with the folder can run.

It takes a results folder. It returns a report of findings, each with its place and reason.
"""
