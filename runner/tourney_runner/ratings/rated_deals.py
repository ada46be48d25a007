"""The interface of a finished deal that ratings and tables read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Deal", "Fault", "average_places", "tie_seed"]


class Fault(Protocol):
    """A fault of one bot, see `results.records.FaultRecord`."""

    @property
    def entrant(self) -> int:
        """The entrant that failed."""

    @property
    def kind(self) -> str:
        """One of the fault kinds."""

    @property
    def unplayed(self) -> bool:
        """Whether the bot was benched and forfeited the deal without playing."""


class Deal(Protocol):
    """One deal, see `results.records.DealRecord`; sequences are indexed by seat."""

    @property
    def key(self) -> tuple[int, int, int]:
        """The round, the match, and the deal or rotation within the match."""

    @property
    def seating(self) -> Sequence[int]:
        """The entrant numbers."""

    @property
    def places(self) -> Sequence[int]:
        """Places from 1; tied players share the best place of their group: 1, 2, 2, 4."""

    @property
    def points(self) -> Sequence[float]:
        """The points scored in the game."""

    @property
    def faults(self) -> Sequence[Fault]:
        """All faults in the deal."""


def average_places(places: Sequence[int]) -> list[float]:
    """Return the places with ties averaged: 1, 2, 2, 4 becomes 1, 2.5, 2.5, 4."""
    if len(set(places)) == len(places):
        return [float(place) for place in places]
    return [place + (places.count(place) - 1) / 2 for place in places]


def tie_seed(key: tuple[int, int, int]) -> int:
    """Return the seed that shuffles tied players of a deal in the rating, derived from its key."""
    round_number, match, deal = key
    return (round_number << 64) | (match << 32) | deal
