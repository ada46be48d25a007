"""Showing what a user wrote, safely: short, on one line, with nothing that moves a cursor."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["closest", "escaped", "listed", "nearest", "pairs", "shown", "unprintable"]

_LONGEST = 60


def unprintable(text: str) -> str | None:
    """The first control, bidirectional, format or unassigned character of a text, if any."""
    return next((char for char in text if not char.isprintable() and category(char) != "Zs"), None)


def escaped(text: str, longest: int = _LONGEST) -> str:
    """A text cut to `longest` characters, with hidden characters written as escapes."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(char if char.isprintable() else _escape(char) for char in cut)


def shown(value: Any) -> str:
    """A value of a configuration as it appears in a message; long ones are cut first."""
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
    """Names as in a sentence: ``a, b or c``."""
    *most, last = [escaped(name) for name in names] or ["nothing"]
    return f"{', '.join(most)} {word} {last}" if most else last


def pairs(values: Mapping[str, Any]) -> str:
    """Names with their JSON values: ``players: 4, bombs_may_lead: false``."""
    return ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())


def closest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like one that is not there, whatever its case, if any is like it."""
    by_fold = {known.casefold(): known for known in names}
    found = get_close_matches(name[:_LONGEST].casefold(), by_fold, n=1)
    return by_fold[found[0]] if found else None


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message that offers the nearest valid name, or nothing."""
    found = closest(name, names)
    return f"; did you mean '{escaped(found)}'?" if found else ""


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
