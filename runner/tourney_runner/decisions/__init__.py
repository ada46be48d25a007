"""Decisions of the organiser during or after a tournament: rulings, reruns and closing.

They take a results folder and a decision. They store the decision and publish the new tables;
results of deals are never edited.
"""
