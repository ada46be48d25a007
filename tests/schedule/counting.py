"""Counts what a schedule does to its entrants; shared by the tests of all formats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tourney_runner.schedule.base import Field, RoundResult
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tourney_runner.schedule.base import Format, Table


class Tally:
    """Running counts of meetings, seats and succession over the tables it is given."""

    def __init__(self, entrants: int, players: int) -> None:
        self.entrants = entrants
        self.players = players
        self.meetings: Counter[tuple[int, int]] = Counter()
        self.seats: Counter[tuple[int, int]] = Counter()
        self.after: Counter[tuple[int, int]] = Counter()

    def add(self, table: Table) -> None:
        seating = table.seating
        self.meetings.update((min(pair), max(pair)) for pair in combinations(seating, 2))
        self.seats.update((entrant, seat) for seat, entrant in enumerate(seating))
        self.after.update((seating[seat - 1], entrant) for seat, entrant in enumerate(seating))

    def meeting_counts(self) -> list[int]:
        return [self.meetings[pair] for pair in combinations(range(self.entrants), 2)]

    def seat_counts(self) -> list[int]:
        return [
            self.seats[entrant, seat]
            for entrant in range(self.entrants)
            for seat in range(self.players)
        ]

    def succession_counts(self) -> list[int]:
        everybody = range(self.entrants)
        return [self.after[one, other] for one in everybody for other in everybody if one != other]


def spread(counts: Iterable[int]) -> int:
    values = list(counts)
    return max(values) - min(values)


def new_format(
    name: str,
    entrants: int,
    players: int,
    *,
    seed: int = 1,
    teams: tuple[str | None, ...] = (),
    **options: Any,
) -> Format[Any]:
    """A format for entrants that are called ``b0``, ``b1`` ..."""
    names = tuple(f"b{number}" for number in range(entrants))
    field = Field(entrants=entrants, players=players, seed=seed, teams=teams, names=names)
    return make(name, field, format_class(name).options(**options))


def all_rounds(planned: Format[Any]) -> list[list[Table]]:
    """The tables of a format that needs no results, round by round."""
    rounds: list[list[Table]] = []
    while (tables := planned.plan(len(rounds), ())) is not None:
        rounds.append(list(tables))
    return rounds


def result(number: int, tables: list[Table], strength: Callable[[int], float]) -> RoundResult:
    """Return the results of a round if the stronger always finishes first: points are n - place."""
    points: Counter[int] = Counter()
    places: dict[int, list[int]] = {}
    for table in tables:
        for place, entrant in enumerate(sorted(table.seating, key=strength, reverse=True), 1):
            points[entrant] += len(table.seating) - place
            places.setdefault(entrant, []).append(place)
    return RoundResult(
        round=number,
        points={entrant: float(sum_) for entrant, sum_ in points.items()},
        places={entrant: sum(all_) / len(all_) for entrant, all_ in places.items()},
        tables=tuple(table.seating for table in tables),
    )


def played_out(
    planned: Format[Any], strength: Callable[[int], float]
) -> tuple[list[list[Table]], list[RoundResult]]:
    """All rounds of a format that plans from results, and their results."""
    rounds: list[list[Table]] = []
    finished: list[RoundResult] = []
    while (tables := planned.plan(len(rounds), finished)) is not None:
        rounds.append(list(tables))
        finished.append(result(len(finished), rounds[-1], strength))
    return rounds, finished


def mates(tables: Iterable[Table], teams: tuple[str | None, ...]) -> int:
    """At how many tables two of a team sit."""
    there = [[teams[entrant] for entrant in table.seating if teams[entrant]] for table in tables]
    return sum(len(names) != len(set(names)) for names in there)
