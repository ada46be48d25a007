"""The history of finished rounds for formats that plan from results, and fair seating."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tourney_runner.schedule.base import RoundResult, Table, permutation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tourney_runner.results.records import DealRecord
    from tourney_runner.schedule.base import Draw, Seating

__all__ = [
    "Followed",
    "Follower",
    "History",
    "fair_seating",
    "pair",
    "pair_seating",
    "round_result",
    "seated",
]


class Follower(Protocol):
    """A value that is built up from finished rounds."""

    def add(self, result: RoundResult) -> None:
        """Add the next round."""


FollowerT = TypeVar("FollowerT", bound=Follower)


class Followed(Generic[FollowerT]):
    """A cache that updates a `Follower` with new rounds instead of rebuilding it for each round.

    Rebuilding it for each of ten thousand rounds would take fifty million steps.

    Args:
        new: Returns a follower that has no rounds.
    """

    def __init__(self, new: Callable[[], FollowerT]) -> None:
        self._new = new
        self._seen: list[RoundResult] = []
        self._follower = new()

    def after(self, finished: Sequence[RoundResult]) -> FollowerT:
        """Return the follower after exactly these rounds, in order. Callers must not change it."""
        rounds = list(finished)
        if self._seen != rounds[: len(self._seen)]:
            self._seen, self._follower = [], self._new()
        for result in rounds[len(self._seen) :]:
            self._follower.add(result)
        self._seen = rounds
        return self._follower


class History:
    """Counts of matches, meetings, seats, points and places over finished rounds."""

    def __init__(self) -> None:
        self.matches: Counter[int] = Counter()
        """Matches by entrant."""
        self.rounds: Counter[int] = Counter()
        """Rounds played, by entrant."""
        self.meetings: Counter[tuple[int, int]] = Counter()
        """Meetings by `pair`."""
        self.met: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """By entrant, the number of meetings with each other entrant."""
        self.sat: Counter[tuple[int, int]] = Counter()
        """Matches by entrant and seat."""
        self.began: Counter[tuple[int, int]] = Counter()
        """Matches at tables of two, by the entrant in the first seat and the other."""
        self.points: dict[int, float] = {}
        self.places: dict[int, float] = {}
        """The sum of mean places over all rounds, by entrant."""

    def add(self, result: RoundResult) -> None:
        """Add a round."""
        for seating in result.tables:
            self.matches.update(seating)
            self.meetings.update(pair(one, other) for one, other in combinations(seating, 2))
            for one, other in permutations(seating, 2):
                self.met[one][other] = self.met[one].get(other, 0) + 1
            if len(seating) == 2:
                self.began[seating[0], seating[1]] += 1
            self.sat.update((entrant, seat) for seat, entrant in enumerate(seating))
        self.rounds.update(result.places.keys())
        for entrant, place in result.places.items():
            self.places[entrant] = self.places.get(entrant, 0.0) + place
            self.points[entrant] = self.points.get(entrant, 0.0) + result.points[entrant]

    def merit(self, entrant: int) -> tuple[float, float]:
        """Return the sort key of the ranking, least first: points a round (negated), mean place."""
        rounds = max(self.rounds[entrant], 1)
        points, places = self.points.get(entrant, 0.0), self.places.get(entrant, 0.0)
        return -points / rounds, places / rounds

    def ranking(self, entrants: Sequence[int]) -> list[int]:
        """Return the entrants by `merit`, then in the given order."""
        return sorted(entrants, key=self.merit)


def round_result(
    number: int, records: Iterable[DealRecord], gone: frozenset[int] = frozenset()
) -> RoundResult:
    """Return the result of a finished round for a format.

    Args:
        number: The round, from 0.
        records: All of its deals.
        gone: The entrants that take no part in the next round.
    """
    points: dict[int, float] = {}
    places: dict[int, list[int]] = {}
    tables = []
    for record in records:
        if record.key.deal == 0:
            tables.append(record.seating)
        for entrant, point, place in zip(record.seating, record.points, record.places, strict=True):
            points[entrant] = points.get(entrant, 0.0) + point
            places.setdefault(entrant, []).append(place)
    return RoundResult(
        round=number,
        points=points,
        places={entrant: sum(all_) / len(all_) for entrant, all_ in places.items()},
        tables=tuple(tables),
        gone=gone,
    )


def pair(one: int, other: int) -> tuple[int, int]:
    """Return the key of two entrants, independent of their order."""
    return (one, other) if one < other else (other, one)


def fair_seating(
    members: Sequence[int],
    sat: Counter[tuple[int, int]],
    random: Draw,
    seats: Sequence[int] | None = None,
) -> dict[int, int]:
    """Seat the members of a table where they have sat least.

    Args:
        members: The entrants that play.
        sat: How often each entrant has sat in each seat.
        random: The source of tie-breaks.
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


def pair_seating(
    members: Sequence[int],
    began: Counter[tuple[int, int]],
    sat: Counter[tuple[int, int]],
    random: Draw,
) -> tuple[int, int]:
    """Seat two entrants so that each begins equally often, first against the other, then overall.

    Args:
        members: The two entrants.
        began: How often the first entrant of a key has begun against the second.
        sat: How often each entrant has sat in each seat.
        random: The source of tie-breaks.
    """
    one, two = permutation(members, random)
    between = began[one, two] - began[two, one]
    in_all = sat[one, 0] - sat[one, 1] - sat[two, 0] + sat[two, 1]
    return (two, one) if (between, in_all) > (0, 0) else (one, two)


def seated(  # noqa: PLR0913 - what seats depend on
    round_number: int,
    tables: Iterable[Sequence[int]],
    games: int,
    history: History,
    random: Draw,
    *,
    by_pair: bool = True,
) -> list[Table]:
    """Return the matches of a round in which each table plays several games with fair seating.

    Args:
        round_number: From 0.
        tables: The entrants of each table.
        games: Matches of each table.
        history: The earlier rounds.
        random: The source of tie-breaks.
        by_pair: Whether two entrants that meet often begin equally often; false in version 1 of the
            rules.
    """
    together = list(tables)
    sat, began = history.sat.copy(), history.began.copy()
    matches: list[Table] = []
    for _ in range(games):
        for members in together:
            if by_pair and len(members) == 2:
                seating: Seating = pair_seating(members, began, sat, random)
                began[seating[0], seating[1]] += 1
            else:
                there = fair_seating(members, sat, random)
                seating = tuple(there[seat] for seat in range(len(members)))
            sat.update((entrant, seat) for seat, entrant in enumerate(seating))
            matches.append(Table(round_number, len(matches), seating))
    return matches
