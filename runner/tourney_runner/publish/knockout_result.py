"""The result of formats in which the last table decides instead of the rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.results.rulings import disqualified
from tourney_runner.schedule.knockout import merit
from tourney_runner.schedule.registry import format_class
from tourney_runner.schedule.round_history import round_result

if TYPE_CHECKING:
    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import RoundResult

__all__ = ["final_order", "last_table_decides"]


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
