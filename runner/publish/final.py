"""The last table, where a format lets that decide and not the rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.results.rulings import disqualified
from runner.schedule.registry import format_class

if TYPE_CHECKING:
    from runner.results.store import Store

__all__ = ["final_order"]


def final_order(store: Store) -> tuple[int, ...]:
    """The entrants of the deciding table, the winner first.

    More points come first, then better places: as whoever goes on is chosen.

    Returns:
        Nobody while the tournament is not complete, and where no table decides.
    """
    schedule = store.meta("identity").get("schedule")  # a person's table has none
    last = store.last_round()
    if not store.meta("complete") or schedule is None or last is None:
        return ()
    if not format_class(schedule["format"]).last_table_decides:
        return ()
    points: dict[int, float] = {}
    places: dict[int, int] = {}
    for record in store.records(range(last, last + 1)):
        for entrant, point, place in zip(record.seating, record.points, record.places, strict=True):
            points[entrant] = points.get(entrant, 0.0) + point
            places[entrant] = places.get(entrant, 0) + place
    there = points.keys() - disqualified(store)
    return tuple(sorted(there, key=lambda entrant: (-points[entrant], places[entrant], entrant)))
