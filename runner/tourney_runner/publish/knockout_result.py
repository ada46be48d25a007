"""The last table, where a format lets that decide and not the rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.results.rulings import disqualified
from tourney_runner.schedule.registry import format_class

if TYPE_CHECKING:
    from tourney_runner.results.store import Store

__all__ = ["final_order", "last_table_decides"]


def last_table_decides(store: Store) -> bool:
    """Whether the result is the order of the last table, and not the ranking by rating."""
    schedule = store.about().schedule  # a person's table has none
    return schedule is not None and format_class(schedule.format).last_table_decides


def final_order(store: Store) -> tuple[int, ...]:
    """The entrants of the deciding table, the winner first.

    More points come first, then better places: as whoever goes on is chosen.

    Returns:
        Nobody while the tournament is not complete, and where no table decides.
    """
    last = store.last_round()
    if last is None or not store.about().complete or not last_table_decides(store):
        return ()
    points: dict[int, float] = {}
    places: dict[int, int] = {}
    for record in store.records(range(last, last + 1)):
        for entrant, point, place in zip(record.seating, record.points, record.places, strict=True):
            points[entrant] = points.get(entrant, 0.0) + point
            places[entrant] = places.get(entrant, 0) + place
    there = points.keys() - disqualified(store)
    return tuple(sorted(there, key=lambda entrant: (-points[entrant], places[entrant], entrant)))
