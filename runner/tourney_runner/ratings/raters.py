"""The rating methods, behind one interface."""

from __future__ import annotations

from array import array
from math import floor, log10
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from tourney_runner.ratings.model import Rating, finishing_order, tie_seed
from tourney_runner.ratings.order_free import covariance, fit
from tourney_runner.ratings.through_time import fit_through_time

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal, Model
    from tourney_runner.ratings.order_free import Fit
    from tourney_runner.ratings.through_time import TimedFit

    Floats = NDArray[np.float64]

__all__ = [
    "Estimate",
    "OrderFreeRater",
    "Rater",
    "ThroughTimeRater",
    "Update",
    "rater",
]

Update = Literal["sequential", "order_free", "through_time"]
"""One pass in schedule order, a fit of all deals at once, or a fit of skills that drift from round
to round.
"""


class Estimate(NamedTuple):
    """Ratings with their errors."""

    ratings: list[Rating]
    """By entrant."""
    covariance: Floats
    """The covariance of the errors of mu relative to the mean of the field, [entrant, entrant]."""
    converged: bool
    """Whether the ratings had converged when the fit ended."""


class Rater(Protocol):
    """A rating method, to which deals are added one by one."""

    def add(self, deal: Deal, match: int) -> None:
        """Add a deal.

        Args:
            deal: The deal.
            match: The number of its match, from 0. Deals of a match depend on each other.
        """

    def ratings(self) -> list[Rating]:
        """Return the belief about each entrant after all deals so far."""

    def estimate(self) -> Estimate:
        """Return the ratings with the covariance of their errors."""


class OrderFreeRater:
    """A rater that stores the finishing order of deals, 4 bytes a player, and fits on demand."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self._entrants = entrants
        self._rows: dict[int, array[int]] = {}
        self._matches: dict[int, array[int]] = {}
        """The match of each deal, by the number of players."""
        self._fit: Fit | None = None

    def add(self, deal: Deal, match: int) -> None:
        """Store the deal's outcome."""
        self._fit = None
        players = len(deal.seating)
        self._rows.setdefault(players, array("i")).extend(_finishing_row(deal))
        self._matches.setdefault(players, array("i")).append(match)

    def fit(self) -> Fit:
        """Return the fit of the deals so far; the rows of its evidence keep the order of adding."""
        if self._fit is None:
            tables = {
                players: np.array(rows, dtype=np.int32).reshape(-1, players)
                for players, rows in self._rows.items()
            }
            self._fit = fit(self._model, self._entrants, tables)
        return self._fit

    def ratings(self) -> list[Rating]:
        """Return the ratings after all deals so far, which do not depend on their order."""
        return self.fit().ratings()

    def estimate(self) -> Estimate:
        """Return the ratings with a covariance that is robust to dependent deals."""
        found = self.fit()
        errors = covariance(found, self._matches)
        return Estimate(found.ratings(), errors, found.converged)


class ThroughTimeRater:
    """A rater that stores the finishing order and round of every deal, and fits on demand."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self._entrants = entrants
        self._rows: dict[int, array[int]] = {}
        self._rounds: dict[int, array[int]] = {}
        """The round of each deal, by the number of players."""
        self._fit: TimedFit | None = None

    def add(self, deal: Deal, match: int) -> None:  # noqa: ARG002 - the model has no matches
        """Store the deal's outcome and round."""
        self._fit = None
        players = len(deal.seating)
        self._rows.setdefault(players, array("i")).extend(_finishing_row(deal))
        self._rounds.setdefault(players, array("i")).append(deal.key[0])

    def ratings(self) -> list[Rating]:
        """Return the rating of each bot in the last round that it played."""
        found = self._fitted()
        digits = 7 - floor(log10(self._model.sigma))
        rounded = (np.round(found.mu, digits).tolist(), np.round(found.sigma, digits).tolist())
        return [Rating(mu, sigma) for mu, sigma in zip(*rounded, strict=True)]

    def estimate(self) -> Estimate:
        """Return the ratings with the errors that the model gives."""
        found = self._fitted()
        return Estimate(self.ratings(), np.diag(np.square(found.sigma)), found.converged)

    def _fitted(self) -> TimedFit:
        if self._fit is None:
            rows = {
                players: np.array(flat, dtype=np.int64).reshape(-1, players)
                for players, flat in self._rows.items()
            }
            rounds = {players: np.array(numbers) for players, numbers in self._rounds.items()}
            self._fit = fit_through_time(self._model, self._entrants, rows, rounds)
        return self._fit


def _finishing_row(deal: Deal) -> list[int]:
    """Return the entrants in finishing order, inverted where tied with the one before."""
    row, before = [], None
    for seat in finishing_order(deal.places, tie_seed(deal.key)):
        entrant = deal.seating[seat]
        row.append(~entrant if deal.places[seat] == before else entrant)
        before = deal.places[seat]
    return row


def rater(update: Update, model: Model, entrants: int, checkpoints: Path | None = None) -> Rater:
    """Return a rater for a field of entrants, numbered from 0.

    Args:
        update: The method.
        model: The constants.
        entrants: The number of entrants.
        checkpoints: The folder in which ``sequential`` keeps ratings; it keeps none if left out.
    """
    if update == "sequential":
        from tourney_runner.ratings import sequential  # noqa: PLC0415 - trueskill takes 50 ms

        kept = None if checkpoints is None else sequential.Checkpoints(checkpoints)
        return sequential.SequentialRater(model, entrants, kept)
    if update == "through_time":
        return ThroughTimeRater(model, entrants)
    return OrderFreeRater(model, entrants)
