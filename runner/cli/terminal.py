"""Writing to stdout, whether it is a terminal, a file or a pipe."""

from __future__ import annotations

import sys

from rich.console import Console

__all__ = ["stdout_console", "write_exactly"]

_WIDE = 1000
"""Columns of a file or a pipe: nothing is folded there."""


def stdout_console() -> Console:
    """For tables."""
    return Console(width=None if sys.stdout.isatty() else _WIDE)


def write_exactly(text: str) -> None:
    """Write a document for programs: UTF-8 whatever the locale says, as the files have it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
