"""The interface of a tournament format: entrants, seed and finished rounds give the next round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import msgspec

__all__ = ["Format", "RoundResult", "Seating", "Table"]

Seating = tuple[int, ...]
"""Entrant numbers by seat."""


class Table(msgspec.Struct, frozen=True):
    """One match of a round before it is played: who sits where in rotation 0."""

    round: int
    match: int
    """The number within its round, from 0."""
    seating: Seating


class RoundResult(msgspec.Struct, frozen=True):
    """What a format may know of a finished round: points and mean place by entrant number."""

    round: int
    points: dict[int, float]
    places: dict[int, float]


class Format(ABC):
    """Plans rounds. It holds no results; what it needs it is given."""

    name: str

    @abstractmethod
    def rounds(self) -> int | None:
        """How many rounds there will be; None where that depends on results."""

    @abstractmethod
    def matches(self, round_number: int) -> int | None:
        """How many matches a round has; None where that depends on results."""

    @abstractmethod
    def ahead(self) -> bool:
        """Whether rounds can be planned before earlier ones are finished."""

    @abstractmethod
    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """The tables of a round, lazily; None when the tournament is over.

        Args:
            round_number: From 0.
            finished: The results of all earlier rounds, or empty where `ahead` is true.
        """
