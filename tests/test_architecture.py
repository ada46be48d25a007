"""The rooms of the package import in one direction, the one that docs/architecture.md shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "runner" / "tourney_runner"

SEAMS = {("run", "cluster")}
"""Imports inside a function that open an optional part; nothing else may run upwards."""


def rooms() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)/?` \|", text, flags=re.MULTILINE)


def imports() -> Iterator[tuple[str, str, str]]:
    """Every import between two rooms: the importing room, the imported one, and the place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                package, _, rest = name.partition(".")
                other = rest.partition(".")[0]
                if package == "tourney_runner" and other not in {"", room}:
                    yield room, other, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_room_is_in_the_table() -> None:
    there = {
        path.name.removesuffix(".py")
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("_", "py.typed"))
    }
    assert set(rooms()) == there


def test_no_import_runs_upwards() -> None:
    floor = {room: at for at, room in enumerate(rooms())}
    upwards = [
        f"{place}: {room} imports {other}"
        for room, other, place in imports()
        if floor.get(other, 0) > floor.get(room, len(floor)) and (room, other) not in SEAMS
    ]
    assert upwards == []
