"""One test for each case of a rule-case file; `pytest --rule-cases FILE` runs others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tourney_runner.testing import RULE_CASES, read_cases

# The module that knows a game's cases, by the prefix of their ids. It is imported for a first
# case of that game, so that one game's cases need nothing of the others.
_CHECKERS = {"TL": "cases_tienlen", "SX": "cases_speahx"}
pytest.register_assert_rewrite(*_CHECKERS.values())

_OWN_FILES = sorted((Path(__file__).parent.parent / "data").glob("cases_*.jsonl"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = metafunc.config.stash.get(RULE_CASES, None)
    if cases is None:
        cases = [case for file in _OWN_FILES for case in read_cases(file)]
    metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_rule_case(case: dict[str, Any]) -> None:
    prefix = case["id"].partition("-")[0]
    assert prefix in _CHECKERS, f"no game's rule cases begin with {prefix!r}"
    import_module(_CHECKERS[prefix]).check_case(case)
