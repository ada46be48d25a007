"""Writing to stdout: a terminal, a file or a pipe."""

from __future__ import annotations

import shutil
import sys
from textwrap import TextWrapper

from rich.console import Console
from rich.text import Text

__all__ = ["console_for_people", "stdout_console", "tell", "write_exactly"]

_WIDE = 1000
"""Columns of a file or a pipe, where lines are not folded."""


def stdout_console() -> Console:
    """Return a console for tables."""
    return console_for_people() if sys.stdout.isatty() else Console(width=_WIDE)


def console_for_people() -> Console:
    """Return a console as wide as the terminal, whatever its type, without automatic colours."""
    console = Console(highlight=False)
    if console.is_dumb_terminal:  # for which rich assumes 80 columns
        columns, lines = shutil.get_terminal_size()
        return Console(width=columns, height=lines, highlight=False)
    return console


def tell(console: Console, text: str, style: str = "") -> None:
    """Print sentences; on a terminal no word is broken, so paths and commands can be copied."""
    if console.is_terminal:
        whole = TextWrapper(console.width, break_long_words=False, break_on_hyphens=False)
        text = "\n".join(line for lines in text.split("\n") for line in whole.wrap(lines) or [""])
    console.print(Text(text, style=style), soft_wrap=True)


def write_exactly(text: str) -> None:
    """Write a document for programs as UTF-8, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
