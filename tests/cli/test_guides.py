"""`tourney docs` shows the guides, and the wheel carries all of them."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str) -> str:
    ended = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert ended.exit_code == 0
    return ended.stdout


def test_the_list_names_every_guide_with_its_title() -> None:
    lines = run("docs").splitlines()
    assert [line.split()[0] for line in lines] == sorted(
        path.stem for path in (ROOT / "docs").glob("*.md")
    )
    reference = next(line for line in lines if line.startswith("configuration "))
    assert reference.endswith("Configuration reference")


def test_a_guide_is_printed_to_the_letter_into_a_pipe() -> None:
    assert run("docs", "protocol") == (ROOT / "docs/protocol.md").read_text(encoding="utf-8")


def test_the_wheel_carries_every_guide() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= set(included)


def test_the_configuration_reference_is_what_the_models_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    import build_configuration  # noqa: PLC0415 - a script beside the docs

    assert build_configuration.PAGE.read_text(encoding="utf-8") == build_configuration.build(), (
        "run python docs/build_configuration.py"
    )
    assert (
        build_configuration.RESULTS_PAGE.read_text(encoding="utf-8")
        == build_configuration.build_results()
    )
