"""What a table can be trusted with: intervals, comparisons, and whether more rounds are needed."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from statistics import NormalDist
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tourney_runner.ratings.bootstrap import Interval, percentiles, ranks, resample
from tourney_runner.ratings.group_sums import Columns
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.raters import OrderFreeRater
from tourney_runner.ratings.sandwich_covariance import covariance
from tourney_runner.ratings.standings import Scoreboard, Standings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from tourney_runner.ratings.bootstrap import Resampled
    from tourney_runner.ratings.rated_deals import Deal
    from tourney_runner.ratings.raters import Update

    Floats = NDArray[np.float64]

__all__ = ["Analysis", "Certainty", "Neighbours", "SeatResult", "analyse"]

_RESAMPLES = 1000
_Z = NormalDist().inv_cdf(0.975)
_HOPELESS = 1000
"""A schedule so many times longer is called for by no one: such neighbours count as equal."""


class SeatResult(msgspec.Struct, frozen=True):
    """How an entrant fared in one seat."""

    deals: int
    mean_place: float | None
    mean_points: float | None


class Certainty(msgspec.Struct, frozen=True, kw_only=True):
    """The 95 % intervals of one entrant; None before it has played."""

    name: str
    rating: Interval
    """Of mu, relative to the mean of the field; see `robust`."""
    mean_place: Interval | None
    mean_points: Interval | None
    """Of the points a deal."""
    rank: Interval | None
    """Of the rank by mean place."""
    seats: tuple[SeatResult, ...]


class Neighbours(msgspec.Struct, frozen=True, kw_only=True):
    """Two neighbours in the table that the deals so far do not tell apart."""

    above: str
    below: str
    difference: Interval
    """Of mean place of the lower less that of the upper, 95 %; it holds 0."""
    more_rounds: int | None
    """About how many more rounds would tell them apart if the difference is what it seems;
    None if it seems to be nothing."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """All matrices are indexed by entrant number."""

    groups: int
    """Matches, which the intervals are based on."""
    entrants: tuple[Certainty, ...]
    """By entrant number."""
    above: tuple[tuple[float, ...], ...]
    """above[a][b] is the probability that a is the stronger of the two, by rating."""
    met: tuple[tuple[int, ...], ...]
    """met[a][b] counts the deals that both played."""
    ahead: tuple[tuple[float, ...], ...]
    """ahead[a][b] counts those in which a finished before b; ties count half."""
    too_close: tuple[Neighbours, ...]
    """From the top of the table."""

    def warning(self) -> str | None:
        """One line for the organiser where the schedule is too short; None where it is not."""
        if not self.too_close:
            return None
        pairs = len(self.too_close)
        what = "1 pair of neighbours is" if pairs == 1 else f"{pairs} pairs of neighbours are"
        needed = [pair.more_rounds for pair in self.too_close if pair.more_rounds is not None]
        if not needed:
            return f"{what} too close to tell apart; more rounds would not change that soon"
        first = min(needed)
        rounds = "1 more round" if first == 1 else f"{first} more rounds"
        return f"{what} too close to tell apart; about {rounds} would tell the next"


def analyse(  # noqa: PLR0913, PLR0917 - each has its default
    names: Sequence[str],
    deals: Iterable[Deal],
    model: Model | None = None,
    update: Update = "order_free",
    seed: int = 0,
    watch: Callable[[Scoreboard], None] | None = None,
) -> tuple[Standings, Analysis]:
    """The table and how far it can be trusted, in one pass over the deals.

    Args:
        names: The entrants' names, by number.
        deals: The deals, in schedule order.
        model: The constants of the rating.
        update: How the table's ratings are updated.
        seed: Of the resampling.
        watch: Shown the table in the making after each deal.
    """
    model = model or Model()
    board, columns = Scoreboard(names, model, update), Columns(len(names))
    own = board.rater if isinstance(board.rater, OrderFreeRater) else None
    fitted = own or OrderFreeRater(model, len(names))
    for deal in deals:
        board.add(deal)
        columns.add(deal)
        if own is None:
            fitted.add(deal)
        if watch is not None:
            watch(board)
    table = board.standings()
    errors = covariance(fitted.fit(), columns.group_of_deal)
    mu = [rating.mu for rating in board.rater.ratings()]
    resampled = resample(columns, _RESAMPLES, seed)
    return table, Analysis(
        groups=columns.groups,
        entrants=_certainties(names, columns, mu, errors, resampled),
        above=_probabilities(mu, errors),
        met=tuple(map(tuple, columns.met)),
        ahead=tuple(map(tuple, columns.ahead)),
        too_close=_too_close(names, table, columns, resampled.mean_places),
    )


def _certainties(
    names: Sequence[str], columns: Columns, mu: list[float], errors: Floats, resampled: Resampled
) -> tuple[Certainty, ...]:
    places, points = percentiles(resampled.mean_places), percentiles(resampled.mean_points)
    ranked = percentiles(ranks(resampled.mean_places))
    reach = (_Z * np.sqrt(np.diag(errors))).tolist()
    return tuple(
        Certainty(
            name=name,
            rating=Interval(mu[number] - reach[number], mu[number] + reach[number]),
            mean_place=places[number] if columns.seats[number] else None,
            mean_points=points[number] if columns.seats[number] else None,
            rank=ranked[number] if columns.seats[number] else None,
            seats=tuple(_seat(*sums) for sums in columns.seats[number]),
        )
        for number, name in enumerate(names)
    )


def _seat(deals: float, places: float, points: float) -> SeatResult:
    if not deals:
        return SeatResult(0, None, None)
    return SeatResult(int(deals), places / deals, points / deals)


def _probabilities(mu: list[float], errors: Floats) -> tuple[tuple[float, ...], ...]:
    variances = np.diag(errors)
    spread = np.sqrt(np.add.outer(variances, variances) - 2 * errors).tolist()
    cdf = NormalDist().cdf
    return tuple(
        tuple(
            cdf((mu[one] - mu[other]) / spread[one][other]) if one != other else 0.5
            for other in range(len(mu))
        )
        for one in range(len(mu))
    )


def _too_close(
    names: Sequence[str], table: Standings, columns: Columns, mean_places: Floats
) -> tuple[Neighbours, ...]:
    number = {name: entrant for entrant, name in enumerate(names)}
    played = [row for row in table.entrants if row.mean_place is not None]
    found = []
    for upper, lower in pairwise(played):
        differences = mean_places[:, number[lower.name]] - mean_places[:, number[upper.name]]
        (interval,) = percentiles(differences[:, np.newaxis])
        if interval.low <= 0 <= interval.high:
            seen = (lower.mean_place or 0) - (upper.mean_place or 0)
            more = _more_rounds(columns.rounds, float(differences.std()), abs(seen))
            found.append(
                Neighbours(
                    above=upper.name, below=lower.name, difference=interval, more_rounds=more
                )
            )
    return tuple(found)


def _more_rounds(rounds: int, error: float, difference: float) -> int | None:
    """Errors shrink with the root of the rounds: how many until 0 is outside the interval."""
    if difference <= 0:
        return None
    factor = (_Z * error / difference) ** 2
    return max(1, ceil(rounds * (factor - 1))) if factor <= _HOPELESS else None
