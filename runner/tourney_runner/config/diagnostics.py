"""Everything that is wrong with a configuration, gathered so that all of it is said at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tourney_runner.text import escaped

__all__ = ["NOWHERE", "Mark", "Path", "Problem", "Problems", "dotted"]

Path = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists."""


class Mark(NamedTuple):
    """A position in a file, both numbers from 1."""

    line: int
    column: int


NOWHERE = Mark(0, 0)
"""Of a value that stands in no file."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    file: str
    """Or what else it is that the user has named."""
    mark: Mark
    path: Path
    message: str

    def __str__(self) -> str:
        """The line that the user reads."""
        file = escaped(self.file, 500)
        if self.mark == NOWHERE:
            return f"{file}: {self.message}"
        place = f"{file}:{self.mark.line}:{self.mark.column}"
        return ": ".join(filter(None, (place, dotted(self.path), self.message)))


class Problems:
    """Gathers problems; the same one is kept once.

    Args:
        file: The file whose problems are said first.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Keep one more."""
        self._found.setdefault(str(problem), problem)

    def __len__(self) -> int:
        return len(self._found)

    def lines(self) -> list[str]:
        """All problems, file by file in the order in which they came up, then by position."""
        files = [self._file, *dict.fromkeys(problem.file for problem in self._found.values())]
        return sorted(
            self._found,
            key=lambda line: (files.index(self._found[line].file), self._found[line].mark),
        )


def dotted(path: Path) -> str:
    """A path as it is written in messages: ``bots[2].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{escaped(part)}" if text else escaped(part)
    return text
