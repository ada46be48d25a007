"""How files are written that others may be reading, or writing, at the same time."""

from __future__ import annotations

import errno
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file to write into that takes its name when it is complete.

    A reader finds the old file or the new one, never half of it. Of several writers at once the
    last wins, since each has a partial file of its own; it is gone however the writing ends.

    Text is UTF-8 whatever the locale; a lone surrogate, which UTF-8 has no bytes for, becomes a
    question mark.

    Raises:
        RunError: The disk fails; what was stored before is safe.
    """
    # Not `tempfile`, whose files are for one user alone: this one becomes one that others read.
    partial = path.with_name(f".{path.name}.{token_hex(4)}.new")
    try:
        with partial.open("x", encoding="utf-8", errors="replace", newline="") as file:
            yield file
        partial.replace(path)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error.strerror}). The deals that were stored are safe;"
            f" {_remedy(path, error)}, then run the same command again."
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def write_whole(path: Path, text: str) -> None:
    """Write a file at once, as `whole_file` does.

    Raises:
        RunError: The disk fails; what was stored before is safe.
    """
    with whole_file(path) as file:
        file.write(text)


def _remedy(path: Path, error: OSError) -> str:
    """What to do so that a file can be written."""
    # In a folder of the kernel's own, as /proc is, nothing can be made, and that is the same error.
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"make the folder {path.parent}"
    if isinstance(error, IsADirectoryError):
        return "move the folder of that name away"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "make room"
    return "see that files can be written there"
