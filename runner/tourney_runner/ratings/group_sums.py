"""Sums of deals by match, from which intervals are computed, collected in one pass.

A *group* is a match: all rotations of the same cards, or all consecutive deals at one table. The
deals of a group depend on each other (the same cards and opponents), so error bars are computed
from whole groups, never from single deals.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tourney_runner.ratings.rated_deals import average_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tourney_runner.ratings.rated_deals import Deal

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Columns", "GroupSums"]


class GroupSums(NamedTuple):
    """Sums by group and entrant, one row for each entrant of each group, in the order of groups."""

    group: Ints
    entrant: Ints
    deals: Floats
    places: Floats
    """The sum of average places."""
    points: Floats


class Columns:
    """The results of all players of all deals, 32 bytes each, which are summed up at the end.

    Args:
        entrants: The number of entrants.
    """

    def __init__(self, entrants: int) -> None:
        self.entrants = entrants
        self.groups = 0
        # One value for each player of each deal:
        self._group = array("i")
        self._entrant = array("i")
        self._seat = array("i")
        self._place = array("d")
        """The average place of its tie."""
        self._points = array("d")
        self._sizes = array("i")
        """The number of players of each deal."""
        self._last_key: tuple[int, int] | None = None

    def add(self, deal: Deal) -> None:
        """Add a deal. The deals of a match must be consecutive, as in the schedule."""
        round_number, match, _ = deal.key
        if self._last_key != (round_number, match):
            self._last_key = round_number, match
            self.groups += 1
        players = len(deal.seating)
        self._sizes.append(players)
        self._group.extend((self.groups - 1,) * players)
        self._entrant.extend(deal.seating)
        self._seat.extend(range(players))
        self._place.extend(average_places(deal.places))
        self._points.extend(deal.points)

    def sums(self) -> GroupSums:
        """Return the sums by group and entrant."""
        entrant = _whole(self._entrant)
        keys, rows = np.unique(_whole(self._group) * self.entrants + entrant, return_inverse=True)
        return GroupSums(
            keys // self.entrants,
            keys % self.entrants,
            np.bincount(rows, minlength=len(keys)).astype(np.float64),
            np.bincount(rows, _real(self._place), len(keys)).astype(np.float64),
            np.bincount(rows, _real(self._points), len(keys)).astype(np.float64),
        )

    def seats(self) -> list[list[tuple[int, float, float]]]:
        """Return the deals, the sum of average places and the points of each entrant, by seat.

        Seats after the last one in which an entrant has sat are left out.
        """
        seat = _whole(self._seat)
        seats = int(seat.max(initial=-1)) + 1
        cell = _whole(self._entrant) * seats + seat
        size = self.entrants * seats
        shape = (self.entrants, seats)
        deals = np.bincount(cell, minlength=size).reshape(shape).tolist()
        places = np.bincount(cell, _real(self._place), size).reshape(shape).tolist()
        points = np.bincount(cell, _real(self._points), size).reshape(shape).tolist()
        found: list[list[tuple[int, float, float]]] = []
        for row in zip(deals, places, points, strict=True):
            used = max((seat + 1 for seat, count in enumerate(row[0]) if count), default=0)
            sums = list(zip(*row, strict=True))[:used]
            found.append([(count, float(place), float(point)) for count, place, point in sums])
        return found

    def meetings(self) -> tuple[list[list[int]], list[list[float]]]:
        """Return the deals that two entrants both played, and those in which one was ahead.

        Both are indexed by the numbers of two entrants. Ties count half.
        """
        size = self.entrants * self.entrants
        met, ahead = np.zeros(size, dtype=np.int64), np.zeros(size)
        sizes = _whole(self._sizes)
        starts = np.cumsum(sizes) - sizes
        entrant, place = _whole(self._entrant), _real(self._place)
        for players in np.unique(sizes).tolist():
            first = starts[sizes == players]
            for one in range(players):
                for other in range(players):
                    if one != other:
                        pair = entrant[first + one] * self.entrants + entrant[first + other]
                        mine, others = place[first + one], place[first + other]
                        won = np.where(mine < others, 1.0, np.where(mine == others, 0.5, 0.0))
                        met += np.bincount(pair, minlength=size)
                        ahead += np.bincount(pair, won, size)
        shape = (self.entrants, self.entrants)
        return met.reshape(shape).tolist(), ahead.reshape(shape).tolist()


def _whole(numbers: array[int]) -> Ints:
    return np.asarray(numbers, dtype=np.int64)


def _real(numbers: array[float]) -> Floats:
    return np.asarray(numbers, dtype=np.float64)
