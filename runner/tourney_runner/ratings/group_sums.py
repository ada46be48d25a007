"""Sums of deals by match, from which intervals are computed, collected in one pass.

A *group* is a match: all rotations of the same cards, or all consecutive deals at one table. The
deals of a group depend on each other (the same cards and opponents), so error bars are computed
from whole groups, never from single deals.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from tourney_runner.ratings.rated_deals import average_places

if TYPE_CHECKING:
    from tourney_runner.ratings.rated_deals import Deal

__all__ = ["Columns"]


class Columns:
    """Sums by group and entrant, 28 bytes each, and counts by pair and by seat.

    Args:
        entrants: The number of entrants.
    """

    def __init__(self, entrants: int) -> None:
        self.entrants = entrants
        self.groups = 0
        # One value a group and entrant:
        self.group = array("i")
        self.entrant = array("i")
        self.deals = array("i")
        self.places = array("d")
        """The sum of average places."""
        self.points = array("d")
        self.met = [[0] * entrants for _ in range(entrants)]
        self.ahead = [[0.0] * entrants for _ in range(entrants)]
        """ahead[a][b] counts deals in which a finished before b; ties count half."""
        self.seats: list[list[list[float]]] = [[] for _ in range(entrants)]
        """[entrant][seat]: deals, sum of average places, points."""
        self._last_key: tuple[int, int] | None = None
        self._open: dict[int, int] = {}

    def add(self, deal: Deal) -> None:
        """Add a deal. The deals of a match must be consecutive, as in the schedule."""
        round_number, match, _ = deal.key
        if self._last_key != (round_number, match):
            self._last_key = round_number, match
            self._open = {}
            self.groups += 1
        averages = average_places(deal.places)
        for seat, entrant in enumerate(deal.seating):
            self._add_result(entrant, averages[seat], deal.points[seat])
            self._add_seat(entrant, seat, averages[seat], deal.points[seat])
        self._add_meetings(deal)

    def _add_result(self, entrant: int, place: float, points: float) -> None:
        row = self._open.get(entrant)
        if row is None:
            self._open[entrant] = len(self.group)
            self.group.append(self.groups - 1)
            self.entrant.append(entrant)
            self.deals.append(1)
            self.places.append(place)
            self.points.append(points)
        else:
            self.deals[row] += 1
            self.places[row] += place
            self.points[row] += points

    def _add_seat(self, entrant: int, seat: int, place: float, points: float) -> None:
        seats = self.seats[entrant]
        while len(seats) <= seat:
            seats.append([0, 0.0, 0.0])
        sums = seats[seat]
        sums[0] += 1
        sums[1] += place
        sums[2] += points

    def _add_meetings(self, deal: Deal) -> None:
        for seat, one in enumerate(deal.seating):
            place, met, ahead = deal.places[seat], self.met[one], self.ahead[one]
            for other, other_place in zip(deal.seating, deal.places, strict=True):
                if other != one:
                    met[other] += 1
                    ahead[other] += (
                        1.0 if place < other_place else 0.5 if place == other_place else 0.0
                    )
