"""The tables of every round and the result of a knockout, for formats that pair by results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.ratings.model import average_places
from tourney_runner.results.rulings import disqualified
from tourney_runner.schedule.knockout import merit
from tourney_runner.schedule.registry import format_class
from tourney_runner.schedule.round_history import round_result

if TYPE_CHECKING:
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import RoundResult

__all__ = [
    "RoundOfTables",
    "RoundTable",
    "RoundTables",
    "TableRow",
    "final_order",
    "last_table_decides",
]


_MOST_TABLES = 5000
"""Tables that are kept; further ones are left out."""


class TableRow(msgspec.Struct, frozen=True):
    """One bot at a table, over all deals of the round there."""

    entrant: int
    points: float
    mean_place: float
    goes_on: bool
    """Whether it sits at a table of the next round."""


class RoundTable(msgspec.Struct, frozen=True):
    """One table of a round, the best bot first."""

    deals: int
    rows: tuple[TableRow, ...]


class RoundOfTables(msgspec.Struct, frozen=True):
    """A round of tables."""

    number: int
    """From 1."""
    tables: tuple[RoundTable, ...]


class _Sums:
    """Sums of the bots of one table."""

    def __init__(self, seating: tuple[int, ...]) -> None:
        self.deals = 0
        self.points = dict.fromkeys(seating, 0.0)
        self.places = dict.fromkeys(seating, 0.0)


class RoundTables:
    """The results of each table, collected deal by deal in schedule order."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, tuple[int, ...]], _Sums] = {}

    def add(self, record: DealRecord) -> None:
        """Add a deal to the table at which it was played."""
        key = (record.key.round, tuple(sorted(record.seating)))
        sums = self._tables.get(key)
        if sums is None:
            if len(self._tables) == _MOST_TABLES:
                return
            sums = self._tables[key] = _Sums(tuple(record.seating))
        sums.deals += 1
        averages = average_places(record.places)
        for entrant, points, place in zip(record.seating, record.points, averages, strict=True):
            sums.points[entrant] += points
            sums.places[entrant] += place

    def rounds(self) -> tuple[RoundOfTables, ...]:
        """Return all rounds in order."""
        numbers = sorted({number for number, _ in self._tables})
        seated = {
            number: {bot for at, bots in self._tables if at == number for bot in bots}
            for number in numbers
        }
        return tuple(
            RoundOfTables(
                number + 1,
                tuple(
                    _table(sums, seated.get(number + 1, set()))
                    for (at, _), sums in self._tables.items()
                    if at == number
                ),
            )
            for number in numbers
        )


def _table(sums: _Sums, on: set[int]) -> RoundTable:
    order = sorted(sums.points, key=lambda bot: (-sums.points[bot], sums.places[bot], bot))
    return RoundTable(
        sums.deals,
        tuple(
            TableRow(bot, sums.points[bot], sums.places[bot] / sums.deals, bot in on)
            for bot in order
        ),
    )


def last_table_decides(store: Store) -> bool:
    """Return whether the order of the last table, not the ranking by rating, is the result."""
    schedule = store.about().schedule  # a person's table has none
    return schedule is not None and format_class(schedule.format).last_table_decides


def final_order(store: Store) -> tuple[tuple[int, ...], int]:
    """Return the entrants of the deciding table, the winner first, and the number of winners.

    They are ordered by the same rule as in earlier rounds. A disqualified bot is left out, and
    those behind it move up. Bots that are level after the tie-breaks share the first place.

    Returns:
        No entrants before the tournament is complete, or if no table decides.
    """
    last = store.last_round()
    if last is None or not store.about().complete or not last_table_decides(store):
        return (), 0
    results = [_result(store, last)]
    while last > 0:
        last -= 1
        before = _result(store, last)
        if before.points.keys() != results[0].points.keys():
            break
        results.insert(0, before)
    there = results[0].points.keys() - disqualified(store)
    merits = {entrant: merit(entrant, results) for entrant in there}
    order = sorted(there, key=lambda entrant: (merits[entrant], entrant))
    values = [merits[entrant] for entrant in order]
    return tuple(order), values.count(values[0]) if values else 0


def _result(store: Store, number: int) -> RoundResult:
    return round_result(number, store.records(range(number, number + 1)))
