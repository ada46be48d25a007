"""Files in a bot's folder that are not part of the bot.

Editors, operating systems, version control and test tools leave files behind that say nothing about
the bot. They neither change its identity nor are copied with it. Its author can name others in a
file ``.tourneyignore``, which is part of the bot itself.
"""

from __future__ import annotations

import errno
import os
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.errors import UsageError
from tourney_runner.process.folder_tree import open_file
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["IGNORE_FILE", "LEFT_BEHIND", "IgnoreRules", "read_ignore_rules"]

IGNORE_FILE = ".tourneyignore"
LEFT_BEHIND = (
    ".git", ".hg", ".svn",
    "__pycache__", "*.pyc", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints",
    ".idea", ".vscode", "*~", ".*.sw?", ".#*", "#*#",
    ".DS_Store", "._*", "__MACOSX", ".Spotlight-V100", ".Trashes", ".fseventsd",
    "Thumbs.db", "ehthumbs.db", "desktop.ini", ".directory", ".nfs*", ".fuse_hidden*",
)  # fmt: skip
"""Names of files and folders, at any level: version control, Python's tools, editors, systems."""
_KEPT = (IGNORE_FILE, "bot.yaml")
"""Paths that no pattern leaves out."""
_MOST_BYTES = 8192
_MOST_PATTERNS = 100
"""Bounds of an ignore file. Each pattern is tried on each of up to some 10,000 files."""


class _Pattern(NamedTuple):
    """One line of an ignore file."""

    written: str
    parts: tuple[str, ...]
    """The pattern of each part of a path."""
    anchored: bool
    """Whether it holds for the whole path and not for a name at any level."""
    folders_only: bool

    def matches(self, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether it matches a path itself, as opposed to a folder that holds it."""
        if self.folders_only and not is_folder:
            return False
        tried = parts if self.anchored else parts[-1:]
        return len(tried) == len(self.parts) and all(map(fnmatchcase, tried, self.parts))


_USUAL = tuple(_Pattern(name, (name,), anchored=False, folders_only=False) for name in LEFT_BEHIND)


class IgnoreRules:
    """The patterns that hold in one bot's folder.

    Args:
        lines: The lines of its ignore file.

    Raises:
        UsageError: A line is not a pattern. The message has no place; the caller adds it.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        own = [_pattern(number, line) for number, line in enumerate(lines, start=1)]
        self._own = tuple(one for one in own if one is not None)
        self._patterns = (*_USUAL, *self._own)

    def ignores(self, path: str, is_folder: bool) -> bool:  # noqa: FBT001 - as `walk` calls it
        """Return whether to leave out a file or folder, whose parent folder is not left out.

        Args:
            path: Relative to the bot's folder.
            is_folder: Whether it is a folder.
        """
        return _first_match(self._patterns, path, is_folder=is_folder) is not None

    def check_needed(self, words: Iterable[str]) -> None:
        """Refuse patterns of the ignore file that leave out what the command or build names.

        Args:
            words: The words of the command and of all build commands, as they are written. They
                count as paths below the bot's folder.

        Raises:
            UsageError: A pattern leaves one of them out, whether there is such a file or not.
        """
        for word in words:
            path = PurePath(os.path.normpath(word))
            if path.is_absolute() or path.parts[:1] == (os.pardir,):
                continue
            for place in (path, *path.parents[:-1]):
                is_folder = place != path or word.endswith(os.sep)
                pattern = _first_match(self._own, str(place), is_folder=is_folder)
                if pattern is not None:
                    raise UsageError(
                        f"{shown(word)} is named by its command or build, but the pattern"
                        f" {shown(pattern.written)} in {IGNORE_FILE} leaves it out; change the"
                        " pattern"
                    )


def _first_match(patterns: Iterable[_Pattern], path: str, *, is_folder: bool) -> _Pattern | None:
    if path in _KEPT:
        return None
    parts = PurePath(path).parts
    return next((one for one in patterns if one.matches(parts, is_folder=is_folder)), None)


def read_ignore_rules(folder: Path) -> IgnoreRules:
    """Return the patterns that hold in a bot's folder.

    Raises:
        UsageError: Its ignore file is not a regular file, is too long, or has a wrong line.
        OSError: It cannot be read.
    """
    place = f"'{escaped(str(folder / IGNORE_FILE), 500)}'"
    try:
        with os.fdopen(open_file(folder, IGNORE_FILE), "rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return IgnoreRules()
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ELOOP, errno.ENXIO}:
            raise UsageError(f"{place} is not a regular file; remove it") from error
        raise
    try:
        return IgnoreRules(_lines(content))
    except UsageError as error:
        raise UsageError(f"{place} {error}") from error


def _lines(content: bytes) -> list[str]:
    """Return the lines of an ignore file.

    Raises:
        UsageError: It is too long, or is not text.
    """
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise UsageError("has bytes that are not UTF-8") from error
    if len(content) > _MOST_BYTES or len(lines) > _MOST_PATTERNS:
        raise UsageError(
            f"has more than {_MOST_PATTERNS} lines or {_MOST_BYTES} bytes; make it shorter"
        )
    return lines


def _pattern(number: int, line: str) -> _Pattern | None:
    """Return the pattern of a line; None for blank lines and comments.

    Raises:
        UsageError: It has a form of gitignore that has no meaning here.
    """
    written = line.strip()
    if not written or written.startswith("#"):
        return None
    if written.startswith("!") or "**" in written or "\\" in written:
        raise UsageError(
            f"has a line that is not understood, line {number}: {shown(written)}. A line is a name"
            " or a path with *, ? and [...]; a / at its end stands for folders only. There is no"
            " !, ** or \\"
        )
    parts = tuple(written.strip("/").split("/"))
    if not all(parts) or "." in parts or ".." in parts:
        raise UsageError(
            f"has a line that is not a path in the folder, line {number}: {shown(written)}"
        )
    anchored = "/" in written.rstrip("/")
    return _Pattern(written, parts, anchored, written.endswith("/"))
