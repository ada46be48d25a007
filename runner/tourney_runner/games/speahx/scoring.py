"""What a finished deal comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.speahx.position import Table

__all__ = ["places", "points"]


def places(table: Table) -> tuple[int, ...]:
    """The place of each seat, from 1.

    Those who went out come first; if the turns ran out, those still in follow by the number of
    their cards, equal numbers sharing a place (S36); forfeiters are last, the earliest the lowest
    (S39).
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
    """The points of each seat: those who share places share their points, forfeiters get none.

    Args:
        table: The finished deal.
        by_place: Points for the first place to the last.
    """
    taken = places(table)
    result = []
    for seat, place in enumerate(taken):
        shared = by_place[place - 1 : place - 1 + taken.count(place)]
        result.append(0.0 if seat in table.forfeited else sum(shared) / len(shared))
    return tuple(result)
