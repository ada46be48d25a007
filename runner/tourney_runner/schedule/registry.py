"""The registry of formats. A new format needs a module and an entry here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import FORMAT_RULES

if TYPE_CHECKING:
    from tourney_runner.schedule.base import Field, Format, FormatOptions

__all__ = ["DEFAULT", "format_class", "make", "names"]

DEFAULT = "round-robin"
"""The format of a tournament that does not name one."""

_FORMATS = {
    "gauntlet": "tourney_runner.schedule.gauntlet:Gauntlet",
    "knockout": "tourney_runner.schedule.knockout:Knockout",
    "ladder": "tourney_runner.schedule.ladder:Ladder",
    "round-robin": "tourney_runner.schedule.round_robin:RoundRobin",
    "swiss": "tourney_runner.schedule.swiss:Swiss",
}
_FIRST_RULES = {
    name: f"tourney_runner.schedule.first_rules:{name.capitalize()}"
    for name in ("knockout", "ladder", "swiss")
}
"""The formats that plan differently by version 1 of the rules."""


def names() -> list[str]:
    """Return the names of all formats, sorted."""
    return sorted(_FORMATS)


def format_class(name: str, rules: int = FORMAT_RULES) -> type[Format[Any]]:
    """Import and return the format with a given name.

    Args:
        name: One of `names`.
        rules: Version of the rules for pairing, see `base.FORMAT_RULES`.

    Raises:
        UsageError: There is no such format.
    """
    if name not in _FORMATS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(names())}")
    place = _FIRST_RULES.get(name, _FORMATS[name]) if rules == 1 else _FORMATS[name]
    module, _, attribute = place.partition(":")
    found: type[Format[Any]] = getattr(import_module(module), attribute)
    return found


def make(name: str, field: Field, options: FormatOptions | None = None) -> Format[Any]:
    """Return a format ready to plan, by the rules of the field.

    Args:
        name: One of `names`.
        field: The entrants.
        options: A value of that format's ``options`` model; its defaults if left out.

    Raises:
        UsageError: There is no such format, or these entrants cannot play it.
    """
    found = format_class(name, field.format_rules)
    return found(field, found.options() if options is None else options)
