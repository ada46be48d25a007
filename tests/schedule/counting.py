"""Counts what a schedule does to its entrants; shared by the tests of all formats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

from runner.schedule.base import Field
from runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.schedule.base import Format, Table


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
    field = Field(entrants=entrants, players=players, seed=seed, teams=teams)
    return make(name, field, format_class(name).options(**options))


def all_rounds(planned: Format[Any]) -> list[list[Table]]:
    """The tables of a format that needs no results, round by round."""
    rounds: list[list[Table]] = []
    while (tables := planned.plan(len(rounds), ())) is not None:
        rounds.append(list(tables))
    return rounds
