"""The two ways to update ratings, behind one interface."""

from __future__ import annotations

from array import array
from math import sqrt
from typing import TYPE_CHECKING, Literal, Protocol

from tourney_runner.ratings.model import Rating
from tourney_runner.ratings.rated_deals import tie_seed
from tourney_runner.ratings.sequential import finishing_order, revise

if TYPE_CHECKING:
    from tourney_runner.ratings.model import Model
    from tourney_runner.ratings.order_free import Fit
    from tourney_runner.ratings.rated_deals import Deal

__all__ = ["OrderFreeRater", "Rater", "SequentialRater", "Update", "rater"]

Update = Literal["sequential", "order_free"]
"""One pass in schedule order, or a fit of all deals at once."""


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
        self._beliefs = [(model.mu, model.sigma * model.sigma)] * entrants
        """Means and variances."""

    def add(self, deal: Deal) -> None:
        """Rate the deal's players."""
        before = [self._beliefs[entrant] for entrant in deal.seating]
        after = revise(self._model, before, deal.places, tie_seed(deal.key))
        for entrant, belief in zip(deal.seating, after, strict=True):
            self._beliefs[entrant] = belief

    def ratings(self) -> list[Rating]:
        """The ratings after the last deal."""
        return [Rating(mean, sqrt(variance)) for mean, variance in self._beliefs]


class OrderFreeRater:
    """Keeps who finished where in every deal, 4 bytes a player, and fits them when asked."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self._entrants = entrants
        self._rows: dict[int, array[int]] = {}
        self._fit: Fit | None = None

    def add(self, deal: Deal) -> None:
        """Keep the deal's outcome."""
        self._fit = None
        rows = self._rows.setdefault(len(deal.seating), array("i"))
        before = None
        for seat in finishing_order(deal.places, tie_seed(deal.key)):
            entrant = deal.seating[seat]
            rows.append(~entrant if deal.places[seat] == before else entrant)
            before = deal.places[seat]

    def fit(self) -> Fit:
        """What is made out of the deals so far; the rows of its evidence stand in their order."""
        if self._fit is None:
            self._fit = self._fitted()
        return self._fit

    def ratings(self) -> list[Rating]:
        """The ratings by all deals so far, the same whatever their order."""
        return self.fit().ratings()

    def _fitted(self) -> Fit:
        import numpy as np  # noqa: PLC0415 - the plain table must not wait for it

        from tourney_runner.ratings.order_free import fit  # noqa: PLC0415

        tables = {
            players: np.array(rows, dtype=np.int32).reshape(-1, players)
            for players, rows in self._rows.items()
        }
        return fit(self._model, self._entrants, tables)


def rater(update: Update, model: Model, entrants: int) -> Rater:
    """A rater for a field of entrants, numbered from 0."""
    if update == "sequential":
        return SequentialRater(model, entrants)
    return OrderFreeRater(model, entrants)
