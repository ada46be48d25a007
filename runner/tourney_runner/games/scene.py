"""A neutral picture of a position: seats, and zones of cards.

Replays, pages and terminals draw scenes; none of them knows which game it is.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Scene", "SeatView", "Zone"]


class Zone(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place where cards lie, in drawing order (for a stack: bottom to top)."""

    name: str
    """What a viewer calls it: ``hand``, ``table``, ``pile``, ``reserve`` ..."""
    cards: tuple[str, ...]
    """Card strings such as ``3S``; the viewer shows a back where a card may not be seen."""
    seat: int | None = None
    """Whose zone it is; None for the middle of the table."""
    shown_to: Literal["all", "owner", "nobody"] = "all"
    layout: Literal["fan", "stack", "row"] = "row"
    note: str = ""
    """A short remark, such as the suit that was called."""


class SeatView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One player as seen by everybody."""

    seat: int
    cards: int
    """How many cards the player holds."""
    state: Literal["playing", "passed", "out", "forfeited"] = "playing"
    place: int | None = None
    """The finishing place, from 1, once it is certain."""
    note: str = ""


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position, ready to be drawn."""

    seats: tuple[SeatView, ...]
    zones: tuple[Zone, ...]
    to_move: int | None
