"""Edits of a list in the text of a YAML file that leave all other text as it is.

Reading and writing the whole file with ruamel.yaml keeps comments and order. But it changes the
indentation, and moves text between the list and the next key. So its parser is only used to find
the entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
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
    start: int
    """The offset of the list's first dash or bracket."""
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
        if self.flow:
            at = self.entries[-1].end if self.entries else self.start + 1
            return self._changed(_Span(at, at), f", {entry}" if self.entries else entry)
        line_end = self.text.find("\n", self.entries[-1].end)
        at = len(self.text) if line_end < 0 else line_end
        newline = "\n"
        if self.text[at - 1] == "\r":
            at, newline = at - 1, "\r\n"
        return self._changed(_Span(at, at), f"{newline}{' ' * self.column}- {entry}")

    def replaced(self, place: int, entry: str) -> str:
        """Return the file with the entry at an index, from 0, replaced."""
        return self._changed(self.entries[place], entry)

    def _changed(self, span: _Span, words: str) -> str:
        return f"{self.text[: span.start]}{words}{self.text[span.end :]}"


def find_list(text: str, key: str) -> Listing | None:
    """Return the list under a key of the outermost mapping; None if no list is written there.

    Args:
        text: Valid YAML.
        key: The key.
    """
    events = YAML().parse(text)
    for event in events:
        if isinstance(event, MappingStartEvent):
            break
    for name in events:
        if isinstance(name, CollectionEndEvent):
            break
        value = next(events)
        if getattr(name, "value", None) == key:
            return _listing(text, value, events) if isinstance(value, SequenceStartEvent) else None
        _end_of(value, events)
    return None


def _listing(text: str, opening: Any, events: Iterator[Any]) -> Listing:
    entries = []
    for event in events:
        if isinstance(event, CollectionEndEvent):
            break
        begin = event.start_mark.index
        words = text[begin : _end_of(event, events)].rstrip()  # a text block includes line ends
        entries.append(_Span(begin, begin + len(words)))
    start = opening.start_mark
    return Listing(text, start.index, start.column, bool(opening.flow_style), tuple(entries))


def _end_of(event: Any, events: Iterator[Any]) -> int:
    """Return the offset at which a value's text ends.

    Args:
        event: The first event of the value.
        events: The events after it.
    """
    end: int = event.end_mark.index
    if not isinstance(event, CollectionStartEvent):
        return end
    for inner in events:
        if isinstance(inner, CollectionEndEvent):
            closes = (
                inner.end_mark.index > inner.start_mark.index
            )  # a bracket; otherwise the end has no text
            return inner.end_mark.index if closes else end
        end = _end_of(inner, events)
    return end
