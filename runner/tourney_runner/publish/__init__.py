"""Published tables, pages and exports of a tournament.

It reads a results file. It writes the ranking in several formats, the site with charts and replays,
and tables of deals.
"""
