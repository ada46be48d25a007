"""What formats that plan from results know of the rounds so far."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from runner.schedule.base import Table
from runner.schedule.draw import permutation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.schedule.base import RoundResult, Seating
    from runner.schedule.draw import Draw

__all__ = ["History", "fair_seating", "pair", "seated"]


class History:
    """Counts over finished rounds.

    Args:
        finished: All of them, in order.
    """

    def __init__(self, finished: Iterable[RoundResult] = ()) -> None:
        self.matches: Counter[int] = Counter()
        """By entrant."""
        self.rounds: Counter[int] = Counter()
        """By entrant, rounds in which it played."""
        self.meetings: Counter[tuple[int, int]] = Counter()
        """By `pair`."""
        self.sat: Counter[tuple[int, int]] = Counter()
        """By entrant and seat."""
        self.points: dict[int, float] = {}
        self.places: dict[int, float] = {}
        """The sum over rounds of the mean place."""
        for result in finished:
            self._add(result)

    def _add(self, result: RoundResult) -> None:
        for seating in result.tables:
            self.seat(seating)
        self.rounds.update(result.places.keys())
        for entrant, place in result.places.items():
            self.places[entrant] = self.places.get(entrant, 0.0) + place
            self.points[entrant] = self.points.get(entrant, 0.0) + result.points[entrant]

    def seat(self, seating: Seating) -> None:
        """Count a match that was played or is planned."""
        self.matches.update(seating)
        self.meetings.update(pair(one, other) for one, other in combinations(seating, 2))
        self.sat.update((entrant, seat) for seat, entrant in enumerate(seating))

    def ranking(self, entrants: Sequence[int]) -> list[int]:
        """The entrants by points a round, then by mean place, then in the given order."""

        def merit(entrant: int) -> tuple[float, float]:
            rounds = max(self.rounds[entrant], 1)
            points, places = self.points.get(entrant, 0.0), self.places.get(entrant, 0.0)
            return -points / rounds, places / rounds

        return sorted(entrants, key=merit)


def pair(one: int, other: int) -> tuple[int, int]:
    """The key of two entrants, whichever is named first."""
    return (one, other) if one < other else (other, one)


def fair_seating(
    members: Sequence[int],
    sat: Counter[tuple[int, int]],
    random: Draw,
    seats: Sequence[int] | None = None,
) -> dict[int, int]:
    """Seat the members of a table where they have sat least.

    Args:
        members: Who plays.
        sat: How often each entrant has sat in each seat.
        random: Breaks ties.
        seats: The seats to fill, as many as members; by default the first.

    Returns:
        The entrant in each seat.
    """
    free = list(range(len(members)) if seats is None else seats)
    seating = dict(zip(free, permutation(members, random), strict=True))
    improved = True
    while improved:
        improved = False
        for seat, other in combinations(free, 2):
            one, two = seating[seat], seating[other]
            if sat[one, other] + sat[two, seat] < sat[one, seat] + sat[two, other]:
                seating[seat], seating[other] = two, one
                improved = True
    return seating


def seated(
    round_number: int,
    tables: Iterable[Sequence[int]],
    games: int,
    history: History,
    random: Draw,
) -> list[Table]:
    """The matches of a round in which each table plays several, seats changing fairly.

    Args:
        round_number: From 0.
        tables: Who plays together.
        games: Matches of each table.
        history: The rounds before; the new matches are counted in it.
        random: Breaks ties.
    """
    together = list(tables)
    matches: list[Table] = []
    for _ in range(games):
        for members in together:
            there = fair_seating(members, history.sat, random)
            seating = tuple(there[seat] for seat in range(len(members)))
            history.seat(seating)
            matches.append(Table(round_number, len(matches), seating))
    return matches
