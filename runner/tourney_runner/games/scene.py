"""A neutral picture of a position: seats, and zones of cards.

Replays, pages and terminals draw scenes without knowing the game.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Scene", "SeatView", "Zone"]


class Zone(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group of cards in drawing order (for a stack: bottom to top)."""

    name: str
    """The name for viewers: ``hand``, ``table``, ``pile``, ``reserve`` ..."""
    cards: tuple[str, ...]
    """Card strings such as ``3S``. The viewer shows a back for cards that may not be seen."""
    seat: int | None = None
    """The owner's seat; None for the middle of the table."""
    shown_to: Literal["all", "owner", "nobody"] = "all"
    layout: Literal["fan", "stack", "row"] = "row"
    note: str = ""
    """A short remark, such as the suit that was called."""


class SeatView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The public view of one player."""

    seat: int
    cards: int
    """The number of cards that the player holds."""
    state: Literal["playing", "passed", "out", "forfeited"] = "playing"
    place: int | None = None
    """The finishing place, from 1, once it is certain."""
    note: str = ""


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position, ready to be drawn."""

    seats: tuple[SeatView, ...]
    zones: tuple[Zone, ...]
    to_move: int | None
