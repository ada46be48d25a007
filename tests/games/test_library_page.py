"""docs/library.md: its examples run, and the public modules are what it says."""

from __future__ import annotations

import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text()
MODULES = re.findall(r"^\| `(tourney_runner[\w.]*)`", PAGE, re.MULTILINE)
FROZEN = ROOT / "tests" / "data" / "results" / "0.1.0-9ef054c" / "rr-complete"


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(FROZEN, tmp_path / "results" / "league")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/library.md", "exec"), names)  # noqa: S102 - our own page
    shown = capsys.readouterr().out
    assert "1.1.1" in shown
    assert "the deal is over" in shown


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_say_what_is_public(name: str) -> None:
    module = import_module(name)
    assert module.__doc__
    assert module.__all__
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{name}.{public} has no docstring"


def test_there_are_public_modules() -> None:
    assert len(MODULES) > 10
