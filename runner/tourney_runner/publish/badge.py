"""A small picture that says where a bot stands, for its author's own page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.publish.rendering import environment
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from tourney_runner.publish.standings_rows import Row

__all__ = ["badge"]

_LONGEST = 32
_CHARACTER = 6.6
"""Pixels of an average character at 11 px; the text is fitted to what is left for it."""


def badge(title: str, row: Row, of: int) -> str:
    """An SVG with the tournament's title and the bot's rank, or that it has none.

    Args:
        title: Of the tournament.
        row: The bot.
        of: How many bots have a rank.
    """
    title = without_controls(title)
    left = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
    right = f"#{row.standing.rank} of {of}" if row.is_ranked else row.standing.status
    widths = [round(len(text) * _CHARACTER + 14) for text in (left, right)]
    return (
        environment()
        .get_template("badge.svg")
        .render(
            label=f"{title}: {without_controls(row.standing.name)} is {right}",
            left=left,
            right=right,
            widths=widths,
        )
    )
