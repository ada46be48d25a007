"""The test that ``pytest --rule-cases FILE`` runs, once for each case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tourney_runner.testing import RULE_CASES, check_case

if TYPE_CHECKING:
    import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Create one test for each case in the given files."""
    cases = metafunc.config.stash.get(RULE_CASES, [])
    metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_rule_case(case: dict[str, Any]) -> None:
    """Check one case."""
    check_case(case)
