"""Badges: small SVG images with the rank of a bot, for its author's own page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.publish.rendering import environment
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from tourney_runner.publish.standings_rows import Row

__all__ = ["badge"]

_LONGEST = 32
_CHARACTER = 6.6
"""Pixels of an average character at 11 px; the text is fitted to the space that is available."""


def badge(title: str, row: Row, of: int) -> str:
    """Return an SVG with the tournament's title and the bot's rank, or its status if it has none.

    Args:
        title: The title of the tournament.
        row: The bot.
        of: The number of bots that have a rank.
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
