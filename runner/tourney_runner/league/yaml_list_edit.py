"""Edits of a list in the text of a YAML file that leave all other text as it is.

Writing the whole file again would lose comments or layout. So the parser is only used to find the
entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Listing", "find_list"]


class _Span(NamedTuple):
    start: int
    end: int


class Listing(NamedTuple):
    """A list of a file."""

    text: str
    """The whole file."""
    span: _Span
    """The list, from its first dash or bracket."""
    column: int
    """The column of the dashes, from 0."""
    flow: bool
    """True if it is written in brackets."""
    entries: tuple[_Span, ...]

    def added(self, entry: str) -> str:
        """Return the file with another entry at the end of the list.

        Args:
            entry: The entry as YAML on one line.
        """
        if not self.entries:
            # An empty list gets dashes, so that no line grows with each entry. What stands in
            # brackets or braces keeps them: `column` is negative there.
            if self.column < 0:
                return self._changed(self.span, f"[{entry}]")
            return self._first_with_dash(entry)
        last = self.entries[-1].end
        if self.flow:
            return self._changed(_Span(last, last), f", {entry}")
        at, newline = _line_end(self.text, last)
        return self._changed(_Span(at, at), f"{newline}{' ' * self.column}- {entry}")

    def _first_with_dash(self, entry: str) -> str:
        text = self._changed(self.span, "")
        at, newline = _line_end(text, self.span.start)
        line = f"{newline}{' ' * self.column}- {entry}"
        return f"{text[:at].rstrip(' ')}{line}{text[at:]}"

    def replaced(self, place: int, entry: str) -> str:
        """Return the file with the entry at an index, from 0, replaced."""
        return self._changed(self.entries[place], entry)

    def _changed(self, span: _Span, words: str) -> str:
        return f"{self.text[: span.start]}{words}{self.text[span.end :]}"


def _line_end(text: str, position: int) -> tuple[int, str]:
    """Return where the line of a position ends, and how lines end there."""
    found = text.find("\n", position)
    at = len(text) if found < 0 else found
    return (at - 1, "\r\n") if at and text[at - 1] == "\r" else (at, "\n")


def find_list(text: str, key: str) -> Listing | None:
    """Return the list under a key of the file's outermost mapping.

    A key without a value counts as an empty list.

    Args:
        text: Valid YAML.
        key: The key.

    Returns:
        None where something else is written there, or nothing.
    """
    events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
    outermost = next((event for event in events if isinstance(event, MappingStartEvent)), None)
    for name in events:
        if isinstance(name, CollectionEndEvent):
            break
        value = next(events)
        if getattr(name, "value", None) == key:
            indent = -1 if outermost is None or outermost.flow_style else name.start_mark.column + 2
            if isinstance(value, SequenceStartEvent):
                return _listing(text, value, events, indent)
            return _empty(text, name, value, indent)
        _end_of(value, events)
    return None


def _start(event: Any) -> int:
    index: int = event.start_mark.index
    return index


def _end(event: Any) -> int:
    index: int = event.end_mark.index
    return index


def _empty(text: str, name: Any, value: Any, indent: int) -> Listing | None:
    """Return the list that a key without a value stands for."""
    if not isinstance(value, ScalarEvent) or value.tag or value.style not in (None, ""):
        return None
    if value.value.lower() not in ("", "~", "null"):
        return None
    if _start(value) < _end(value):
        span = _Span(_start(value), _end(value))
    else:  # nothing is written, and the mark may be anywhere up to the next key
        colon = text.index(":", _end(name)) + 1
        span = _Span(colon, colon)
    return Listing(text, span, indent, flow=True, entries=())


def _listing(text: str, opening: Any, events: Iterator[Any], indent: int) -> Listing:
    """Return the list that begins with the event `opening`, whose other events follow."""
    entries = []
    end = _end(opening)
    for event in events:
        if isinstance(event, CollectionEndEvent):
            end = _end(event)
            break
        begin = _start(event)
        words = text[begin : _end_of(event, events)].rstrip()  # a text block includes line ends
        entries.append(_Span(begin, begin + len(words)))
    flow = bool(opening.flow_style)
    column = opening.start_mark.column if entries else indent
    return Listing(text, _Span(_start(opening), end), column, flow, tuple(entries))


def _end_of(event: Any, events: Iterator[Any]) -> int:
    """Return the offset at which a value's text ends.

    Args:
        event: The first event of the value.
        events: The events after it.
    """
    end = _end(event)
    if not isinstance(event, CollectionStartEvent):
        return end
    for inner in events:
        if isinstance(inner, CollectionEndEvent):
            closes = _end(inner) > _start(inner)  # a bracket; otherwise no text
            return _end(inner) if closes else end
        end = _end_of(inner, events)
    return end
