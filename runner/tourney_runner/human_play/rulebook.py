"""A game's rule book for players, and the rules in force at a table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tourney_runner.config.bundled import bundled_folder

if TYPE_CHECKING:
    from tourney_runner.games.base import Game, GameOptions

__all__ = ["rulebook", "rules_text"]

_COMMENT = re.compile(r"^<!--.*?-->$\n?", re.MULTILINE | re.DOTALL)


def rulebook(game: Game[Any, Any], options: GameOptions) -> str:
    """Return the rules in force, and the rule book if the game has one, as Markdown.

    Args:
        game: The game.
        options: The options at this table.
    """
    return f"{rules_text(game, options)}\n\n{_book(game.name)}"


def rules_text(game: Game[Any, Any], options: GameOptions) -> str:
    """Return every option with its value and its meaning, as Markdown."""
    in_force = options.in_force()
    lines = [f"# {game.title}: the rules at this table", ""]
    for name, field in game.options.model_fields.items():
        if name in in_force:
            text = " ".join((field.description or "").split())
            lines.append(f"- **{name}: {json.dumps(in_force[name])}** {text}")
    return "\n".join(lines)


def _book(name: str) -> str:
    """Return the rule book that comes with the program; empty if the game has none."""
    folder = bundled_folder("docs")
    book = None if folder is None else folder / f"rules-{name}.md"
    if book is None or not book.is_file():
        return ""
    return _COMMENT.sub("", book.read_text(encoding="utf-8"))
