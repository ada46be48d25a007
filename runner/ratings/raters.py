"""The two ways to update ratings, behind one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from runner.ratings.deals import tie_seed
from runner.ratings.sequential import rate

if TYPE_CHECKING:
    from runner.ratings.deals import Deal
    from runner.ratings.model import Model, Rating

__all__ = ["Rater", "SequentialRater", "Update", "rater"]

Update = Literal["sequential", "order_free"]


class Rater(Protocol):
    """Takes deals in, gives ratings out."""

    def add(self, deal: Deal) -> None:
        """Take a deal into account."""

    def ratings(self) -> list[Rating]:
        """What is believed of each entrant after all deals so far."""


class SequentialRater:
    """Rates deal by deal in the order of adding, which should be that of the schedule."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self._ratings = [model.start] * entrants

    def add(self, deal: Deal) -> None:
        """Rate the deal's players."""
        before = [self._ratings[entrant] for entrant in deal.seating]
        after = rate(self._model, before, deal.places, tie_seed(deal.key))
        for entrant, rating in zip(deal.seating, after, strict=True):
            self._ratings[entrant] = rating

    def ratings(self) -> list[Rating]:
        """The ratings after the last deal."""
        return list(self._ratings)


def rater(update: Update, model: Model, entrants: int) -> Rater:
    """A rater for a field of entrants, numbered from 0."""
    return SequentialRater(model, entrants)
