"""Problems of a configuration, gathered so that all of them are reported at once."""

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
"""The position of a value that is not from a file."""


@dataclass(frozen=True)
class Problem:
    """One problem and its place."""

    file: str
    """The file, or whatever else the user named."""
    mark: Mark
    path: Path
    message: str

    def __str__(self) -> str:
        """Return the line for the user."""
        file = escaped(self.file, 500)
        if self.mark == NOWHERE:
            return f"{file}: {self.message}"
        place = f"{file}:{self.mark.line}:{self.mark.column}"
        return ": ".join(filter(None, (place, dotted(self.path), self.message)))


class Problems:
    """A collection of problems; duplicates are kept once.

    Args:
        file: The file whose problems come first.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self._found.setdefault(str(problem), problem)

    def extend(self, others: Problems) -> None:
        """Add the problems of another collection."""
        for problem in others._found.values():
            self.add(problem)

    def __len__(self) -> int:
        return len(self._found)

    def lines(self) -> list[str]:
        """Return all problems, by file in order of appearance, then by position."""
        files = [self._file, *dict.fromkeys(problem.file for problem in self._found.values())]
        return sorted(
            self._found,
            key=lambda line: (files.index(self._found[line].file), self._found[line].mark),
        )


def dotted(path: Path) -> str:
    """Return a path as messages write it: ``bots[2].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{escaped(part)}" if text else escaped(part)
    return text
