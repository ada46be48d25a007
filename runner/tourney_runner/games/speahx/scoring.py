"""Places and points of a finished deal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.speahx.position import Table

__all__ = ["places", "points"]


def places(table: Table) -> tuple[int, ...]:
    """Return the place of each seat, from 1.

    Players who went out come first. If the turns ran out, the remaining players follow by the
    number of their cards, and equal numbers share a place (S36). Forfeiters are last, the
    earliest lowest (S39).
    """
    players = len(table.hands)
    result = [0] * players
    for place, seat in enumerate(table.out, start=1):
        result[seat] = place
    for lost, seat in enumerate(table.forfeited):
        result[seat] = players - lost
    cards = {
        seat: len(table.hands[seat]) + len(table.face_down[seat])
        for seat in range(players)
        if not result[seat]
    }
    for seat, count in cards.items():
        fewer = sum(other < count for other in cards.values())
        result[seat] = len(table.out) + fewer + 1
    return tuple(result)


def points(table: Table, by_place: Sequence[float]) -> tuple[float, ...]:
    """Return the points of each seat. Seats with a shared place share points; forfeiters get none.

    Args:
        table: The finished deal.
        by_place: The points by place, from first to last.
    """
    taken = places(table)
    result = []
    for seat, place in enumerate(taken):
        shared = by_place[place - 1 : place - 1 + taken.count(place)]
        result.append(0.0 if seat in table.forfeited else sum(shared) / len(shared))
    return tuple(result)
