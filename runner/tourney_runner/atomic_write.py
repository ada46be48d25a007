"""Atomic writes of files that other processes may read or write at the same time."""

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

__all__ = ["whole_file", "write_changed", "write_whole"]


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a file for writing that takes its name when it is complete.

    A reader finds the old file or the new one, never a part of it. If several processes write at
    once, the last wins, since each has its own partial file, which is removed however the writing
    ends.

    Text is UTF-8 whatever the locale; a lone surrogate, which cannot be encoded, becomes a question
    mark.

    Raises:
        RunError: The disk fails; stored results are safe.
    """
    # `tempfile` creates files that only this user can read, but others read this one.
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
    """Write a file atomically, like `whole_file`.

    Raises:
        RunError: The disk fails; stored results are safe.
    """
    with whole_file(path) as file:
        file.write(text)


def write_changed(path: Path, text: str) -> None:
    """Write a file like `write_whole`, but leave one alone that has this text already.

    Its time stays, so that browsers and copying programs see that it is the same.

    Raises:
        RunError: The disk fails; stored results are safe.
    """
    data = text.encode(errors="replace")
    with suppress(OSError):
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return
    write_whole(path, text)


def _remedy(path: Path, error: OSError) -> str:
    """Return advice on how to make the file writable."""
    # Creating a file in a kernel file system such as /proc fails with the same error.
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"make the folder {path.parent}"
    if isinstance(error, IsADirectoryError):
        return "move the folder of that name away"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "make room"
    return "see that files can be written there"
