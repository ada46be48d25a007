"""Statistics for the pages beside the table: means with intervals, meetings and seats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.ratings.bootstrap import percentiles, resample
from tourney_runner.ratings.group_sums import Columns
from tourney_runner.ratings.table import LEAST_MATCHES, Interval, Standings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tourney_runner.ratings.rated_deals import Deal
    from tourney_runner.ratings.standings import Scoreboard

__all__ = ["Analysis", "Means", "SeatResult", "analyse"]

_RESAMPLES = 1000


class SeatResult(msgspec.Struct, frozen=True):
    """The results of an entrant in one seat."""

    deals: int
    mean_place: float | None
    mean_points: float | None


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """The 95 % intervals of one entrant's plain means; None with too few matches."""

    mean_place: Interval | None
    mean_points: Interval | None
    """The interval of the points per deal."""
    seats: tuple[SeatResult, ...]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of all entrants; matrices are indexed by entrant number."""

    entrants: tuple[Means, ...]
    """By entrant number."""
    met: tuple[tuple[int, ...], ...]
    """met[a][b] counts the deals that both played."""
    ahead: tuple[tuple[float, ...], ...]
    """ahead[a][b] counts the deals of both in which a finished before b; ties count half."""


def analyse(
    board: Scoreboard,
    deals: Iterable[Deal],
    seed: int = 0,
    watch: Callable[[Scoreboard], None] | None = None,
) -> tuple[Standings, Analysis]:
    """Return the table and the means behind it, in one pass over the deals.

    Args:
        board: The table, without any deals.
        deals: The deals, in schedule order.
        seed: The seed of the resampling.
        watch: Called with the board after each deal.
    """
    columns = Columns(board.entrants)
    for deal in deals:
        board.add(deal)
        columns.add(deal)
        if watch is not None:
            watch(board)
    resampled = resample(columns, _RESAMPLES, seed)
    seats, (met, ahead) = columns.seats(), columns.meetings()
    places, points = percentiles(resampled.mean_places), percentiles(resampled.mean_points)
    enough = [matches >= LEAST_MATCHES for matches in board.matches()]
    return board.standings(), Analysis(
        entrants=tuple(
            Means(
                mean_place=places[number] if enough[number] else None,
                mean_points=points[number] if enough[number] else None,
                seats=tuple(_seat(*sums) for sums in seats[number]),
            )
            for number in range(board.entrants)
        ),
        met=tuple(map(tuple, met)),
        ahead=tuple(map(tuple, ahead)),
    )


def _seat(deals: float, places: float, points: float) -> SeatResult:
    if not deals:
        return SeatResult(0, None, None)
    return SeatResult(int(deals), places / deals, points / deals)
