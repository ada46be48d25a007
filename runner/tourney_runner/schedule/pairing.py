"""Tables of neighbours in a ranking, with few rematches and teams apart."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.schedule.round_history import pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["check_teams", "neighbour_tables"]

_REMATCH = 1.5
"""A meeting costs as much as sitting so many tables apart in the ranking, squared: one rematch
is avoided by a neighbouring table, not by any price."""
_TEAM = 1e9
_REACH = 2
"""Tables so far apart trade players; what is farther off is no neighbour."""
_PASSES = 20


def check_teams(teams: Sequence[int] | None, tables: int) -> None:
    """Refuse a team that has more members than there are tables to spread them over.

    Raises:
        UsageError: Two of it would have to meet.
    """
    largest = max(Counter(teams).values()) if teams else 1
    if largest > tables:
        raise UsageError(
            f"a team of {largest} cannot be kept apart at {tables} tables a round: "
            f"teams may have at most {tables}"
        )


def neighbour_tables(
    ranking: Sequence[int],
    players: int,
    meetings: Counter[tuple[int, int]],
    teams: Sequence[int] | None,
) -> list[list[int]]:
    """Cut a ranking into tables, then trade players as long as that makes the whole better.

    Args:
        ranking: Entrants, the best first; a multiple of `players`.
        players: Seats at a table.
        meetings: How often each `pair` has met.
        teams: A number for each entrant, equal for two of a team alone.
    """
    level = {entrant: place / players for place, entrant in enumerate(ranking)}
    tables = [list(ranking[first : first + players]) for first in range(0, len(ranking), players)]

    def cost(table: list[int]) -> float:
        total = 0.0
        for one, other in combinations(table, 2):
            total += (level[one] - level[other]) ** 2
            total += (_REMATCH * meetings[pair(one, other)]) ** 2
            total += _TEAM if teams and teams[one] == teams[other] else 0.0
        return total

    for _ in range(_PASSES):
        trades = 0
        for upper, lower in combinations(tables, 2):
            apart = level[lower[0]] - level[upper[0]]
            # A team may have to be spread over the whole field.
            if apart <= _REACH or cost(upper) + cost(lower) >= _TEAM:
                trades += _trade(upper, lower, cost)
        if not trades:
            break
    return tables


def _trade(upper: list[int], lower: list[int], cost: Callable[[list[int]], float]) -> int:
    """Let two tables trade players as long as both together gain; gives how many trades."""
    trades = 0
    best = cost(upper) + cost(lower)
    for place, other in product(range(len(upper)), range(len(lower))):
        upper[place], lower[other] = lower[other], upper[place]
        traded = cost(upper) + cost(lower)
        if traded < best - 1e-9:
            best, trades = traded, trades + 1
        else:
            upper[place], lower[other] = lower[other], upper[place]
    return trades
