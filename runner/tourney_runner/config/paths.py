"""Folders in a configuration: their paths, and suggestions for missing ones."""

from __future__ import annotations

import os
from pathlib import Path

from tourney_runner.text import closest, escaped, shown

__all__ = ["no_folder", "resolved"]

_LONGEST = 500
"""The longest path that is suggested, in characters; a cut one would be useless."""


def resolved(base: Path, text: str) -> Path:
    """Return the absolute path for a path in a file.

    Args:
        base: The folder that relative paths start from.
        text: The path as written; ``~`` is the user's home.
    """
    # Path's own expanduser raises for an unknown ~user.
    return Path(os.path.realpath(base / os.path.expanduser(text.replace("\0", ""))))  # noqa: PTH111


def no_folder(base: Path, text: str) -> str:
    """Return the message for a path that is not a folder, with the nearest one that is.

    Args:
        base: As for `resolved`.
        text: As for `resolved`.
    """
    if os.path.isfile(resolved(base, text)):  # noqa: PTH113 - unlike Path's, it takes long names
        parent = shown(os.path.dirname(text) or ".")  # noqa: PTH120 - as it was written
        return f"found {shown(text)}, a file, expected the folder that it is in, {parent}"
    meant = _from_here(base, text) or _repaired(base, text)
    hint = f"; did you mean '{escaped(meant, _LONGEST)}'?" if meant else ""
    if " " in text.strip() and not hint:
        hint = "; a command is written {name: .., command: .., cwd: ..}"
    return f"found {shown(text)}, which is not there, expected a folder{hint}"


def _from_here(base: Path, text: str) -> str | None:
    """Return the path from the file to a folder that was given from the working directory."""
    here = resolved(Path.cwd(), text)
    return os.path.relpath(here, base) if _is_folder(here) else None


def _repaired(base: Path, text: str) -> str | None:
    """Return the path with each missing part replaced by the folder nearest in name."""
    path = Path()
    for part in Path(text).parts:
        name: str | None = part
        if not _is_folder(resolved(base, str(path / part))):
            name = closest(part, _folders(resolved(base, str(path))))
        if name is None:
            return None
        path /= name
    return str(path)


def _folders(path: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path) if entry.is_dir()]
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above
