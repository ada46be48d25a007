"""Leagues: submissions, seasons, and the table over all seasons.

Bots and a league's configuration enter. Folders of results, reports of changes and the league's
table leave.
"""
