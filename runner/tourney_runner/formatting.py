"""How numbers, times and places read on the pages."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = [
    "FAULTS",
    "clock",
    "counted",
    "drawn",
    "milliseconds",
    "ordinal",
    "plain",
    "points",
    "steers",
    "utc",
]

FAULTS: dict[FaultKind, str] = {
    "start": "it could not be started, or did not say that it was ready",
    "crash": "it ended, or closed its output, instead of answering",
    "timeout": "no answer came in time",
    "illegal": "the rules forbid what it wanted to play",
    "malformed": "what it wrote is no answer",
    "flood": "it wrote more than it may",
    "memory": "it took more memory than it may",
}
"""What each kind of fault means, for spectators."""


_CARD = re.compile(r"\b([2-9TJQKA])([SHDC])\b")
_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


def drawn(text: str) -> str:
    """A sentence of the program with its cards as they are printed: ``10♣`` for ``TC``."""
    return _CARD.sub(lambda card: f"{'10' if card[1] == 'T' else card[1]}{_SUITS[card[2]]}", text)


def counted(number: int, what: str, several: str | None = None) -> str:
    """``1 deal``, ``1,200 deals``.

    Args:
        number: How many.
        what: One of them.
        several: More of them, if that is not made with an s alone: ``matches``.
    """
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``13th``."""
    teen = number % 100 in {11, 12, 13}
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def points(value: float) -> str:
    """Points without digits that say nothing."""
    return f"{value:,.10g}"


def milliseconds(value: float) -> str:
    """A length of time with the unit that fits it."""
    if value < 1:
        return f"{1000 * value:.0f} µs"
    if value < 1000:
        return f"{value:.3g} ms"
    return f"{value / 1000:.3g} s"


def clock(moment: str | None) -> str:
    """A stored moment for people."""
    return "" if moment is None else moment.replace("T", " ").removesuffix("+00:00") + " UTC"


def utc() -> str:
    """Now, as moments are stored: ISO 8601 in UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def plain(text: str) -> str:
    """Text on one line, without characters that steer terminals or turn the direction around."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if steers(character) else character for character in text
    )


def steers(character: str) -> bool:
    """Whether a character is not shown but does something, or is no character at all."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
