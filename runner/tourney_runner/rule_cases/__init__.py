"""Checks of rule cases: positions with an action and its known outcome.

Each module checks the cases of one game, which names it in `Game.rule_cases`. A case that does not
hold is an AssertionError. `tourney_runner.testing` runs whole files of cases under pytest.
"""
