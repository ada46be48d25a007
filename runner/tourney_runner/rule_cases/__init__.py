"""Check rule cases: positions with an action and its known outcome.

Each module checks the cases of one game. `Game.rule_cases` names the module. A case that does not
hold raises AssertionError. `tourney_runner.testing` runs files of cases under pytest.
"""
