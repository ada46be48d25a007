"""How files are written that others may be reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of it.

    Text is UTF-8 whatever the locale; a lone surrogate, which UTF-8 has no bytes for, becomes a
    question mark.

    Raises:
        RunError: The disk fails; what was stored before is safe.
    """
    partial = path.with_name(f".{path.name}.new")
    try:
        partial.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error}). The deals that were stored are safe; make room,"
            " then run the same command again."
        ) from error
