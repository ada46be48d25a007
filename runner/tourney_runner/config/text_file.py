"""Reading the bytes of a configuration file: bounded, UTF-8, printable."""

from __future__ import annotations

import errno
import re
from itertools import islice
from typing import TYPE_CHECKING

from tourney_runner.config.validation import Mark, Problem
from tourney_runner.process.folder_tree import open_file
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.config.validation import Problems

__all__ = ["read_source"]

_LARGEST = 1024 * 1024
"""Bytes; configurations have a few kilobytes, so a larger file is the wrong one."""

_NOT_YAML = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_MOST = 20
"""The number of bad characters that are reported; a file with more is not text."""
_START = Mark(1, 1)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class _UnreadableError(Exception):
    """The file is not text."""

    def __init__(self, message: str, mark: Mark = _START) -> None:
        super().__init__(message)
        self.mark = mark


def read_source(path: Path, file: str, problems: Problems, *, trusted: bool = True) -> str | None:
    """Return the text of a file, or None after reporting the problem.

    Args:
        path: Its path; a pipe is allowed.
        file: Its name in messages.
        problems: Gets one problem if the file cannot be read, or one for each character that
            YAML does not allow.
        trusted: Whether it may be a pipe or a link, as a bot's own file may not.
    """
    try:
        text = _decoded(_bytes(path, trusted=trusted))
    except _UnreadableError as error:
        problems.add(Problem(file, error.mark, (), str(error)))
        return None
    bad = list(islice(_NOT_YAML.finditer(text), _MOST))
    for found in bad:
        message = (
            f"the character U+{ord(found[0]):04X} is not allowed in YAML: remove it, or write it "
            "as an escape in double quotes"
        )
        problems.add(Problem(file, _mark(text[: found.start()]), (), message))
    return None if bad else text


def _bytes(path: Path, *, trusted: bool) -> bytes:
    try:
        # `open` would wait for a pipe to be written to, and follow a link.
        content = path if trusted else open_file(path.parent, path.name)
        with open(content, "rb") as stream:  # noqa: PTH123 - may be a descriptor
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise _UnreadableError("there is no such file") from None
    except IsADirectoryError:
        raise _UnreadableError("this is a folder, expected a YAML file") from None
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.ELOOP, errno.EINVAL):
            raise _UnreadableError(
                "this is a link or a special file, expected a regular file: put the file itself "
                "there"
            ) from None
        reason = getattr(error, "strerror", None) or str(error)
        raise _UnreadableError(f"the file cannot be read: {escaped(reason)}") from None
    if len(data) > _LARGEST:
        raise _UnreadableError(
            "the file is larger than 1 MiB, expected a configuration of a few kilobytes"
        )
    return data


def _decoded(data: bytes) -> str:
    if data.startswith(_UTF16):
        raise _UnreadableError("the file is UTF-16, expected UTF-8: save it with that encoding")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise _UnreadableError(message, _mark(before)) from None


def _mark(before: str) -> Mark:
    """Return the position just after a text."""
    lines = re.split("\r\n|\n|\r", before)
    return Mark(len(lines), len(lines[-1]) + 1)
