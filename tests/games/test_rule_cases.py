"""One test for each of our own rule cases; `pytest --rule-cases FILE` runs others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tourney_runner.testing import check_case, read_cases

_FILES = sorted((Path(__file__).parent.parent / "data").glob("cases_*.jsonl"))
_CASES = [case for file in _FILES for case in read_cases(file)]


@pytest.mark.parametrize("case", _CASES, ids=[case["id"] for case in _CASES])
def test_rule_case(case: dict[str, Any]) -> None:
    check_case(case)
