"""Text for the terminal that several commands share."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import yaml

from tourney_runner.cli.terminal import stdout_console, tell
from tourney_runner.games import registry
from tourney_runner.publish.tables import headline, lines_below, terminal_table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from tourney_runner.publish.summary import Summary

__all__ = ["game_list", "game_options", "print_table", "yaml_value"]

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
