"""A pytest plugin: ``pytest --rule-cases FILE`` tries the rules on positions with known answers.

Load it with ``-p tourney_runner.testing``, in any folder. It is not a conftest, because pytest
looks for conftest files beside every argument that may be a path, including the FILE of an option
that it does not know yet.

The part of a case's id before the first ``-`` names its game: that of `Game.rule_case_prefix`, also
of games that an installed package adds.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tourney_runner.games import registry

__all__ = ["RULE_CASES", "check_case", "read_cases"]

pytest.register_assert_rewrite("tourney_runner.rule_cases")

RULE_CASES = pytest.StashKey[list[dict[str, Any]]]()
"""The cases of the files that were given, in order."""

_TESTS = Path(__file__).with_name("rule_cases") / "test_rule_cases.py"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--rule-cases``."""
    parser.getgroup("tourney").addoption(
        "--rule-cases",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="run only the rule cases of this file (JSON lines); may be given more than once",
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Turn the cache off: pytest would put it beside the FILE, which may be anywhere."""
    if early_config.known_args_namespace.rule_cases:
        for plugin in ("cacheprovider", "stepwise"):
            early_config.pluginmanager.set_blocked(plugin)


def pytest_configure(config: pytest.Config) -> None:
    """Read the files, and collect only their cases."""
    files: list[Path] = config.getoption("rule_cases")
    if not files:
        return
    folder = config.invocation_params.dir
    config.stash[RULE_CASES] = [case for file in files for case in read_cases(folder / file)]
    config.args = [str(_TESTS)]


def read_cases(file: Path) -> list[dict[str, Any]]:
    """Return the cases of a file, one JSON object per line.

    Raises:
        pytest.UsageError: The file cannot be read, or a line of it is not a case.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise pytest.UsageError(f"rule cases: cannot read {file}: {error}") from error
    return [_case(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _case(line: str, where: str) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except ValueError as error:
        raise pytest.UsageError(f"{where}: not JSON: {error}") from error
    if not isinstance(case, dict):
        raise pytest.UsageError(f"{where}: a case is a JSON object, not {line.strip()[:40]}")
    for key, kind in (("id", str), ("action", dict), ("legal", bool)):
        if not isinstance(case.get(key), kind):
            raise pytest.UsageError(f"{where}: a case needs {key!r}, a {kind.__name__}")
    return case


def check_case(case: dict[str, Any]) -> None:
    """Check a case with its game.

    Raises:
        AssertionError: The case fails, or no game has such cases.
    """
    prefix = case["id"].partition("-")[0]
    games = registry.loaded().games.values()
    game = next((game for game in games if game.rule_case_prefix == prefix), None)
    if game is None:
        raise AssertionError(f"no game's rule cases begin with {prefix!r}")
    import_module(game.rule_cases).check_case(case)
