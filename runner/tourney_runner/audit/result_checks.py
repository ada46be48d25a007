"""Tests of results against the ratings: friends, seats, pairs and cycles.

All claims of one kind are corrected together by Holm's step-down procedure (Scandinavian Journal of
Statistics, 1979), so in an honest tournament each kind makes any claim in at most 5 % of cases.
"""

from __future__ import annotations

from itertools import combinations
from math import erfc, sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tourney_runner.ratings.certainty import normal_deviates
from tourney_runner.ratings.table import LEAST_MATCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tourney_runner.audit.score_residuals import ScoreResiduals

    Floats = NDArray[np.float64]

__all__ = [
    "SURE",
    "Friend",
    "PairScore",
    "SeatScore",
    "Transitivity",
    "corrected",
    "friends",
    "pair_scores",
    "seat_scores",
    "transitivity",
]

SURE = 0.02
"""The corrected chance up to which something stands out. Below 5 %, because errors are estimates
and the ratings' model is not exact."""
_MEDIAN_DEVIATE = 0.6745
"""The median of the absolute value of a standard normal variable."""


class Friend(msgspec.Struct, frozen=True):
    """A bot that scores better, and another that scores worse, where both sit at a table."""

    bot: str
    beside: str
    gain: float
    """In score: the residual of `bot` beside the other, less its residual elsewhere."""
    loss: float
    """The residual of `beside` elsewhere, less its residual at the table of `bot`."""
    error: float
    """The standard error of `gain` + `loss`."""
    matches: int
    """Those of both."""
    p: float
    """The chance of such a sum without a cause, corrected for the number of pairs."""


class SeatScore(msgspec.Struct, frozen=True):
    """The advantage of one seat."""

    players: int
    seat: int
    """From 1."""
    advantage: float
    """In score, against bots of the same strength."""
    error: float
    matches: int
    p: float


class PairScore(msgspec.Struct, frozen=True):
    """The score of one bot against another."""

    bot: str
    opponent: str
    observed: float
    expected: float
    error: float
    """The standard error of the observed score."""
    matches: int
    p: float


class Transitivity(msgspec.Struct, frozen=True):
    """The fit between the scores of pairs and one strength a bot."""

    spread: float | None
    """The root mean square of the standardised residuals of all pairs; about 1 where one strength
    a bot explains all pairs. None with too few matches."""
    cycles: tuple[tuple[str, str, str], ...]
    """A beats B, B beats C and C beats A, each of them surely."""


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return the values after Holm's correction, in the same order."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    result, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        result[index] = highest
    return result


def friends(residuals: ScoreResiduals, names: Sequence[str]) -> list[Friend]:
    """Return all pairs in which one bot may lose for the other, the surest first.

    Honest bots, too, gain a little beside some and lose beside others, since styles differ and the
    model is not exact. The typical size of that is measured in the tournament itself: where half of
    all pairs deviate by more than chance allows, a friend must stand out from them.

    Args:
        residuals: Those of the tournament.
        names: The bots' names, by number.
    """
    together = residuals.margin.count
    apart = residuals.bot.count[:, np.newaxis] - together
    enough = (np.minimum(together, apart) >= LEAST_MATCHES) & (apart.T >= LEAST_MATCHES)
    beside = residuals.beside
    with np.errstate(divide="ignore", invalid="ignore"):
        elsewhere = (residuals.bot.total[:, np.newaxis] - beside.total) / apart
        variance = (residuals.bot_variance[:, np.newaxis] - residuals.beside_variance) / apart**2
        gains = beside.means() - elsewhere
        errors = residuals.margin_variance / together**2 + variance + variance.T
    dispersion = float(residuals.bot.squares.sum() / max(residuals.bot_variance.sum(), 1e-300))
    errors = np.sqrt(dispersion * errors)
    bots, others = np.nonzero(enough)
    deviates = _ratio(gains - gains.T, errors)[bots, others]
    if len(deviates):
        deviates /= max(1.0, float(np.median(np.abs(deviates))) / _MEDIAN_DEVIATE)
    p_values = corrected([_upper_tail(deviate) for deviate in deviates.tolist()])
    found = [
        Friend(
            bot=names[bot],
            beside=names[other],
            gain=round(float(gains[bot, other]), 4),
            loss=round(-float(gains[other, bot]), 4),
            error=round(float(errors[bot, other]), 4),
            matches=int(together[bot, other]),
            p=p,
        )
        for bot, other, p in zip(bots.tolist(), others.tolist(), p_values, strict=True)
    ]
    return sorted(found, key=lambda one: (one.p, -one.gain - one.loss, one.bot, one.beside))


def seat_scores(residuals: ScoreResiduals) -> list[SeatScore]:
    """Return the advantage of each seat, by the number of players and the seat."""
    rows = []
    for players, moments in residuals.seats.items():
        means, errors = moments.means(), np.sqrt(moments.squared_errors())
        for seat in range(players):
            if (matches := int(moments.count[seat])) >= LEAST_MATCHES:
                deviates = normal_deviates(
                    _ratio(means[seat : seat + 1], errors[seat : seat + 1]),
                    np.array([matches - 1.0]),
                )
                rows.append((players, seat, means[seat], errors[seat], matches, float(deviates[0])))
    p_values = corrected([2 * _upper_tail(abs(row[-1])) for row in rows])
    return [
        SeatScore(players, seat + 1, round(float(mean), 4), round(float(error), 4), matches, p)
        for (players, seat, mean, error, matches, _), p in zip(rows, p_values, strict=True)
    ]


def pair_scores(residuals: ScoreResiduals, names: Sequence[str]) -> list[PairScore]:
    """Return observed and expected scores of all pairs with enough matches, surest first."""
    pairs = _enough(residuals)
    deviates = _pair_deviates(residuals)
    p_values = corrected([2 * _upper_tail(abs(float(deviates[pair]))) for pair in pairs])
    errors = np.sqrt(_pair_variances(residuals, residuals.expected))
    observed = residuals.expected + residuals.pair.means()
    found = [
        PairScore(
            bot=names[pair[0]],
            opponent=names[pair[1]],
            observed=round(float(observed[pair]), 4),
            expected=round(float(residuals.expected[pair]), 4),
            error=round(float(errors[pair] / residuals.pair.count[pair]), 4),
            matches=int(residuals.pair.count[pair]),
            p=p,
        )
        for pair, p in zip(pairs, p_values, strict=True)
    ]
    return sorted(found, key=lambda one: (one.p, one.bot, one.opponent))


def transitivity(residuals: ScoreResiduals, names: Sequence[str]) -> Transitivity:
    """Return whether one strength a bot explains the scores of all pairs."""
    pairs = _enough(residuals)
    deviates = _pair_deviates(residuals)
    # The ratings are fitted to the same scores; their number is one less than that of the bots.
    freedom = len(pairs) - len({bot for pair in pairs for bot in pair}) + 1
    spread = None
    if pairs and freedom > 0:
        spread = round(sqrt(sum(float(deviates[pair]) ** 2 for pair in pairs) / freedom), 3)
    even = np.full_like(residuals.expected, 0.5)
    leads = residuals.pair.total + residuals.pair.count * (residuals.expected - even)
    sure = _sure_winners(_ratio(leads, np.sqrt(_pair_variances(residuals, even))), pairs)
    return Transitivity(
        spread,
        tuple(
            (names[a], names[b], names[c])
            for a, b in sorted(sure)
            for c in range(len(names))
            if a < min(b, c) and (b, c) in sure and (c, a) in sure
        ),
    )


def _sure_winners(leads: Floats, pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs, the better bot first, with a sure order."""
    p_values = corrected([2 * _upper_tail(abs(float(leads[pair]))) for pair in pairs])
    return {
        pair if leads[pair] > 0 else pair[::-1]
        for pair, p in zip(pairs, p_values, strict=True)
        if p <= SURE
    }


def _enough(residuals: ScoreResiduals) -> list[tuple[int, int]]:
    """Return the pairs with enough matches, each once."""
    bots = range(len(residuals.expected))
    return [pair for pair in combinations(bots, 2) if residuals.pair.count[pair] >= LEAST_MATCHES]


def _pair_deviates(residuals: ScoreResiduals) -> Floats:
    """Return [bot, opponent] the sum of residuals in standard errors, corrected for continuity."""
    total = residuals.pair.total
    step = 0.5 * min(1.0, _dispersion(residuals))
    beyond = np.copysign(np.maximum(np.abs(total) - step, 0), total)
    return _ratio(beyond, np.sqrt(_pair_variances(residuals, residuals.expected)))


def _pair_variances(residuals: ScoreResiduals, chances: Floats) -> Floats:
    """Return the variances of the sums of residuals, [bot, opponent].

    They are those of a binomial variable, times the dispersion of the whole tournament. The spread
    of one pair's few matches would be 0 where one bot has won all of them.
    """
    result: Floats = _dispersion(residuals) * residuals.pair.count * chances * (1 - chances)
    return result


def _dispersion(residuals: ScoreResiduals) -> float:
    """Return the variance of residuals over that of single deals, 1 where matches are one deal."""
    pair, chances = residuals.pair, residuals.expected
    single = float((pair.count * chances * (1 - chances)).sum())
    return float(pair.squares.sum()) / single if single else 1.0


def _ratio(values: Floats, errors: Floats) -> Floats:
    """Return values in standard errors; 0 where there is no error to compare with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.where(errors > 0, values / errors, 0.0)
    return result


def _upper_tail(deviate: float) -> float:
    """Return the chance that a standard normal variable is above this value."""
    return 0.5 * erfc(deviate / sqrt(2))
