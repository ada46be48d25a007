"""Text for the terminal that several commands share."""

from __future__ import annotations

import signal
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import yaml
from rich.console import Console
from rich.text import Text

from tourney_runner.games import registry
from tourney_runner.publish.tables import headline, lines_below, terminal_table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from tourney_runner.publish.summary import Summary

__all__ = [
    "game_list",
    "game_options",
    "plain_ctrl_c",
    "print_table",
    "stdout_console",
    "tell",
    "write_exactly",
    "yaml_value",
]


_WIDE = 1000
"""Columns of a file or a pipe, where lines are not folded."""


def stdout_console() -> Console:
    """Return a console for tables."""
    return Console(width=None if sys.stdout.isatty() else _WIDE)


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


_WIDTH = 78
"""Columns of prose; terminals have at least 80."""


def yaml_value(value: Any) -> str:
    """Return a value as in a configuration, on one line."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    plain = list(value) if isinstance(value, tuple) else value
    text: str = yaml.safe_dump(plain, default_flow_style=True, width=10_000, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def print_table(summary: Summary) -> None:
    """Print the ranking to stdout, with notes on its certainty."""
    console = stdout_console()
    tell(console, f"{summary.facts.name}: {headline(summary)}")
    console.print(terminal_table(summary, console.width))
    for line in lines_below(summary):
        tell(console, line)


def game_list() -> str:
    """Return all games with a sentence each."""
    parts = []
    found = registry.loaded()
    for name, game in found.games.items():
        summary = textwrap.fill(game.summary, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{name} - {game.title}\n{summary}")
    parts += [f"{name} - cannot be used: {reason}" for name, reason in found.broken.items()]
    parts += [f"{family}/NAME - a family of games" for family in registry.families()]
    return "\n\n".join(parts) + "\n\nThe rules of one: tourney games GAME"


def game_options(name: str) -> str:
    """Return the options of a game as a commented piece of configuration.

    Raises:
        UsageError: There is no such game.
    """
    game = registry.game(name)
    lines = [f"# {game.title}", f"game: {name}", "rules:"]
    for key, info in game.options.model_fields.items():
        lines += textwrap.wrap(
            " ".join((info.description or "").split()),
            _WIDTH,
            initial_indent="  # ",
            subsequent_indent="  # ",
        )
        lines.append(
            f"  {key}: {yaml_value(info.get_default(call_default_factory=True))}{_choices(info)}"
        )
    return "\n".join(lines)


def _choices(info: FieldInfo) -> str:
    words = [yaml_value(choice) for choice in _literals(info.annotation)]
    return f"    # {' | '.join(words)}" if words else ""


def _literals(annotation: Any) -> list[Any]:
    """Return the values that an annotation lists; none for collections."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) in {tuple, list, dict}:
        return []
    return [value for part in get_args(annotation) for value in _literals(part)]


@contextmanager
def plain_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C simply end the program while modules are imported.

    Python's exception would show a traceback from the middle of an import, or be lost in one.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
