"""The ranking table, computed from deals alone, one at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.ratings.model import Model
from tourney_runner.ratings.rated_deals import average_places
from tourney_runner.ratings.raters import rater

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tourney_runner.ratings.model import Rating
    from tourney_runner.ratings.rated_deals import Deal
    from tourney_runner.ratings.raters import Update

__all__ = ["Scoreboard", "Standing", "Standings", "standings"]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    rank: int
    """From 1, by `score`; equal scores share a rank."""
    name: str
    mu: float
    sigma: float
    score: float
    """mu - 3 sigma."""
    deals: int
    points: float
    mean_place: float | None
    """Tied bots count the average of their places; None before the first deal."""
    places: tuple[int, ...]
    """places[i] counts place i + 1; tied bots take the best place of their group."""
    faults: dict[str, int]
    """How many faults of each kind; kinds that did not happen are left out."""
    forfeits: int = 0
    """Deals that it forfeited unplayed while it was benched; none of them is a fault."""


class Standings(msgspec.Struct, frozen=True):
    """The table: rows by rank, within a rank by name."""

    deals: int
    entrants: tuple[Standing, ...]


class _Record:
    """What one entrant has done so far."""

    __slots__ = ("deals", "faults", "forfeits", "place_sum", "places", "points")

    def __init__(self) -> None:
        self.deals = 0
        self.points = 0.0
        self.place_sum = 0.0
        self.places: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.forfeits = 0


class Scoreboard:
    """Counts and rates deals as they are added; its size depends on the entrants alone.

    With order-free ratings it also keeps who beat whom in every deal, 10 to 30 bytes each.

    Args:
        names: The entrants' names, by number.
        model: The constants of the rating.
        update: How ratings are updated.
    """

    def __init__(
        self, names: Sequence[str], model: Model | None = None, update: Update = "order_free"
    ) -> None:
        self._names = tuple(names)
        self._records = [_Record() for _ in names]
        self.rater = rater(update, model or Model(), len(self._names))
        self._deals = 0
        self._players = 0

    def add(self, deal: Deal) -> None:
        """Take in a deal; sequential ratings depend on the order."""
        self._deals += 1
        self._players = max(self._players, len(deal.seating))
        averages = average_places(deal.places)
        rows = zip(deal.seating, deal.places, averages, deal.points, strict=True)
        for entrant, place, average, points in rows:
            record = self._records[entrant]
            record.deals += 1
            record.points += points
            record.place_sum += average
            record.places[place] += 1
        for fault in deal.faults:
            if fault.unplayed:
                self._records[fault.entrant].forfeits += 1
            else:
                self._records[fault.entrant].faults[fault.kind] += 1
        self.rater.add(deal)

    def standings(self) -> Standings:
        """The table after the deals so far."""
        rows = sorted(
            zip(self._names, self.rater.ratings(), self._records, strict=True),
            key=lambda row: (-row[1].score, row[0]),
        )
        scores = [rating.score for _, rating, _ in rows]
        entrants = tuple(
            self._standing(scores.index(rating.score) + 1, name, rating, record)
            for name, rating, record in rows
        )
        return Standings(self._deals, entrants)

    def _standing(self, rank: int, name: str, rating: Rating, record: _Record) -> Standing:
        return Standing(
            rank=rank,
            name=name,
            mu=rating.mu,
            sigma=rating.sigma,
            score=rating.score,
            deals=record.deals,
            points=record.points,
            mean_place=record.place_sum / record.deals if record.deals else None,
            places=tuple(record.places[place + 1] for place in range(self._players)),
            faults=dict(sorted(record.faults.items())),
            forfeits=record.forfeits,
        )


def standings(
    names: Sequence[str],
    deals: Iterable[Deal],
    model: Model | None = None,
    update: Update = "order_free",
) -> Standings:
    """The table of finished deals, in one pass over them.

    Args:
        names: The entrants' names, by number.
        deals: The deals, in schedule order.
        model: The constants of the rating.
        update: How ratings are updated.
    """
    board = Scoreboard(names, model, update)
    for deal in deals:
        board.add(deal)
    return board.standings()
