"""Playing a tournament: its entrants, its plan, its workers and its folder of results.

A `Config` and the options of a run enter; a folder of results leaves. Workers get `MatchPlan`s and
return `DealRecord`s.
"""
