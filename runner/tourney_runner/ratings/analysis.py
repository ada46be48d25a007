"""Statistics beside the table: means with bootstrap intervals, meetings and seats."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from tourney_runner.ratings.order_free import Columns
from tourney_runner.ratings.table import LEAST_MATCHES, Interval, Standings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal
    from tourney_runner.ratings.order_free import GroupSums
    from tourney_runner.ratings.standings import Scoreboard

    Floats = NDArray[np.float64]

__all__ = ["Analysis", "Means", "Resampled", "SeatResult", "analyse", "percentiles", "resample"]


_CHUNK = 50
"""Resamples computed at a time; limits memory to 800 bytes a match."""
_DENSE = 32
"""Entrants up to which full matrices are used, of 24 bytes an entrant and match."""


class Resampled(NamedTuple):
    """The means in each resample of the matches: [resample, entrant].

    An entrant that is absent from a resample has its own mean there, NaN if it never played.
    """

    mean_places: Floats
    mean_points: Floats


def resample(columns: Columns, resamples: int, seed: int) -> Resampled:
    """Draw as many matches as there are, with replacement, and compute all means of each sample.

    Args:
        columns: The deals.
        resamples: The number of samples.
        seed: The same seed gives the same numbers on every machine and NumPy version.
    """
    rows = columns.sums()
    values = np.stack([rows.deals, rows.places, rows.points])
    sums = np.zeros((3, columns.entrants, resamples))
    add = _add_dense if columns.entrants <= _DENSE else _add_sparse
    add(sums, rows, values, columns.groups, seed)
    own_deals, own_places, own_points = (
        np.bincount(rows.entrant, row, columns.entrants)[:, np.newaxis] for row in values
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        absent = sums[0] == 0
        mean_places = np.where(absent, own_places / own_deals, sums[1] / sums[0])
        mean_points = np.where(absent, own_points / own_deals, sums[2] / sums[0])
    return Resampled(mean_places.T, mean_points.T)


def percentiles(resampled: Floats) -> list[Interval]:
    """Return the middle 95 % of each column."""
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return [Interval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def _add_dense(sums: Floats, rows: GroupSums, values: Floats, groups: int, seed: int) -> None:
    """Fill in the sums of each resample, [value, entrant, resample], for a small field.

    One product of full matrices is faster than picking out the matches of each entrant, of which a
    small field has most.
    """
    entrants = sums.shape[1]
    full = np.zeros((3, entrants, groups))
    full[:, rows.entrant, rows.group] = values
    flat = full.reshape(3 * entrants, groups)
    for done, weights in _weights(groups, sums.shape[2], seed):
        until = done + len(weights)
        sums[:, :, done:until] = (flat @ weights.T).reshape(3, entrants, len(weights))


def _add_sparse(sums: Floats, rows: GroupSums, values: Floats, groups: int, seed: int) -> None:
    """Fill in the same sums as `_add_dense` for a large field."""
    order = np.argsort(rows.entrant, kind="stable")
    group, sorted_values = rows.group[order], values[:, order]
    entrants = sums.shape[1]
    bounds = np.searchsorted(rows.entrant[order], np.arange(entrants + 1)).tolist()
    for done, weights in _weights(groups, sums.shape[2], seed):
        by_group = np.ascontiguousarray(weights.T)
        for entrant in range(entrants):
            own = slice(bounds[entrant], bounds[entrant + 1])
            part = sorted_values[:, own] @ by_group[group[own]]
            sums[:, entrant, done : done + len(weights)] = part


def _weights(groups: int, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield how many times each group is drawn, [resample, group], and the resamples before."""
    random = np.random.RandomState(seed % 2**32)
    for first in range(0, resamples if groups else 0, _CHUNK):
        weights = np.empty((min(_CHUNK, resamples - first), groups))
        for row in weights:
            row[:] = np.bincount(random.randint(0, groups, groups), minlength=groups)
        yield first, weights


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
