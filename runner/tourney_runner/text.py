"""Text for people: safe to show, short, on one line, and with the right plurals."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "closest",
    "counted",
    "escaped",
    "is_control",
    "listed",
    "milliseconds",
    "moment",
    "nearest",
    "ordinal",
    "pairs",
    "points",
    "printable",
    "shown",
    "unprintable",
    "utc_now",
    "with_suit_symbols",
    "without_controls",
]

_LONGEST = 60
_CARD = re.compile(r"\b([2-9TJQKA])([SHDC])\b")
_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


def unprintable(text: str) -> str | None:
    """Return the first control, bidirectional, format or unassigned character of a text, if any."""
    return next((char for char in text if not char.isprintable() and category(char) != "Zs"), None)


def escaped(text: str, longest: int = _LONGEST) -> str:
    """Cut a text to `longest` characters and write its hidden characters as escapes."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(char if char.isprintable() else _escape(char) for char in cut)


def printable(text: str) -> str:
    """Return a text of several lines with hidden characters other than tabs written as escapes."""
    return "".join(char if char.isprintable() or char in "\n\t" else _escape(char) for char in text)


def shown(value: Any) -> str:
    """Return a configuration value as messages show it; long values are cut first."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{escaped(value)}'"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return escaped(str(value))


def listed(names: Iterable[str], word: str = "or") -> str:
    """Join names as in a sentence: ``a, b or c``."""
    *most, last = [escaped(name) for name in names] or ["nothing"]
    return f"{', '.join(most)} {word} {last}" if most else last


def pairs(values: Mapping[str, Any]) -> str:
    """Join names and their JSON values: ``players: 4, bombs_may_lead: false``."""
    return ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name most like an unknown one, ignoring case; None if none is like it."""
    by_fold = {known.casefold(): known for known in names}
    found = get_close_matches(name[:_LONGEST].casefold(), by_fold, n=1)
    return by_fold[found[0]] if found else None


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the end of a message that suggests the closest name, or an empty string."""
    found = closest(name, names)
    return f"; did you mean '{escaped(found)}'?" if found else ""


def without_controls(text: str) -> str:
    """Replace the characters that steer terminals or change the writing direction."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if is_control(character) else character for character in text
    )


def is_control(character: str) -> bool:
    """Return whether a character has an effect instead of a shape, or is half a surrogate pair."""
    return category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def with_suit_symbols(text: str) -> str:
    """Replace card codes in a sentence with printed cards: ``10♣`` for ``TC``."""
    return _CARD.sub(lambda card: f"{'10' if card[1] == 'T' else card[1]}{_SUITS[card[2]]}", text)


def counted(number: int, what: str, several: str | None = None) -> str:
    """Return a number with its noun: ``1 deal``, ``1,200 deals``.

    Args:
        number: How many.
        what: The singular.
        several: The plural, unless it only adds an s: ``matches``.
    """
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``13th``."""
    teen = number % 100 in {11, 12, 13}
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def points(value: float) -> str:
    """Return points without trailing zeros."""
    return f"{value:,.10g}"


def milliseconds(value: float) -> str:
    """Return a duration given in milliseconds, in the unit that fits it."""
    if value < 1:
        return f"{1000 * value:.0f} µs"
    if value < 1000:
        return f"{value:.3g} ms"
    return f"{value / 1000:.3g} s"


def moment(stored: str | None) -> str:
    """Return a stored moment as people write it; empty for None."""
    return "" if stored is None else stored.replace("T", " ").removesuffix("+00:00") + " UTC"


def utc_now() -> str:
    """Return the present moment in UTC, ISO 8601, in whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
