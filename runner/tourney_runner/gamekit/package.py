"""A new game as an installable package with tests, made from the example game."""

from __future__ import annotations

import re
from pathlib import Path

from tourney_runner.errors import UsageError

__all__ = ["create"]

_EXAMPLE = Path(__file__).with_name("tricks.py")

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tourney-{name}"
version = "0.1.0"
description = "The game {name} for tourney."
requires-python = ">=3.11"
dependencies = ["tourney-runner"]

[project.entry-points."tourney.games"]
{name} = "{module}:GAME"

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
"""

_TEST = '''\
"""The game keeps the contract between games and tourney."""

import pytest
from tourney_runner.gamekit.conformance import CHECKS

from {module} import GAME


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("seed", range(5))
def test_the_game_keeps_its_contract(check, seed):
    check.run(GAME, GAME.options(), seed)
'''

_README = """\
# {title}

A game for `tourney`. Its rules are in `src/{module}/__init__.py`. "Writing a game" in tourney's
docs explains each part.

    pip install -e .
    tourney check-game {name}      # does it keep the contract?
    pytest                         # the same checks, and tests of your own
    tourney games {name}           # its options
"""


def create(folder: Path) -> list[Path]:
    """Write the package of a new game, named after its folder.

    Args:
        folder: Where to write; it must not exist, or be empty.

    Returns:
        The files written.

    Raises:
        UsageError: The folder is in use, or its name cannot be a game's.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise UsageError(
            f"{folder}: the folder's name becomes the game's, and {name!r} cannot be one; "
            "expected small letters, digits and _, such as hearts"
        )
    module = f"{name}_game"
    title = name.replace("_", " ").title()
    example = _EXAMPLE.read_text(encoding="utf-8")
    code = (
        example.replace("Tricks", title.replace(" ", ""))
        .replace('name = "tricks"', f'name = "{name}"')
        .replace(f'title = "{title.replace(" ", "")}"', f'title = "{title}"')
    )
    files = {
        "pyproject.toml": _PYPROJECT,
        "README.md": _README,
        "tests/test_contract.py": _TEST,
    }
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder}: there is something here already; name another folder")
        written = {
            path: text.format(name=name, module=module, title=title) for path, text in files.items()
        }
        for path, text in {**written, f"src/{module}/__init__.py": code}.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder}: the game cannot be written here ({reason})") from error
    return sorted(path for path in folder.rglob("*") if path.is_file())
