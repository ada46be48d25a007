"""Claims about the order of the bots, based on the covariance of the errors of their ratings.

Differences of ratings are taken as normal, with a variance that is itself estimated from matches. A
standardised difference is compared with Student's t, with one degree of freedom less than the
matches of the bot that has fewer of them.
"""

from __future__ import annotations

from math import erfc, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "Z",
    "best_probabilities",
    "normal_deviates",
    "rank_ranges",
    "scores_of_pairs",
    "t_quantile",
]

Z = NormalDist().inv_cdf(0.975)
"""Half of the width of a 95 % interval in standard errors."""
_ERROR_RATE = 0.05
"""The chance that any of the claims behind the rank ranges of a table is false."""
_CHUNK = 1024
"""Points of the fixed sequence at a time; limits memory to 24 KiB a bot."""
_CHUNKS = 8
"""Least number of chunks; P(best) is then accurate to about half a percent."""
_CHUNKS_OF_ALL = 160
"""Chunks times bots; smaller fields get more points for the same time."""
_HOPELESS = 6.0
"""A bot that is this many standard errors behind the leader has no chance to be the best."""

_erfc = np.frompyfunc(erfc, 1, 1)


def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t, within 0.5 % from 5 degrees of freedom on."""
    # The inverse of Wallace's approximation, see below.
    stretched = Z * (8 * freedom + 3) / (8 * freedom + 1)
    return sqrt(freedom * np.expm1(stretched * stretched / freedom))


def scores_of_pairs(mu: Sequence[float], covariance: Floats, matches: Sequence[int]) -> Floats:
    """Return how many standard normal deviations each bot is above each other, [bot, bot].

    The normal distribution function of an entry is the likelihood of superiority (LOS).

    Args:
        mu: The ratings.
        covariance: The covariance of their errors, [bot, bot].
        matches: The number of independent matches of each bot.
    """
    centre, variances = np.asarray(mu), np.diag(covariance)
    spread = np.add.outer(variances, variances) - 2 * covariance
    differences = np.subtract.outer(centre, centre)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread > 0, differences / np.sqrt(np.maximum(spread, 1e-300)), 0.0)
    counts = np.asarray(matches, dtype=np.float64)
    result = normal_deviates(t, np.maximum(np.minimum.outer(counts, counts) - 1, 1))
    np.fill_diagonal(result, 0.0)
    return result


def normal_deviates(t: Floats, freedom: Floats) -> Floats:
    """Return the standard normal deviates with the tails of Student's t (Wallace, 1959).

    Args:
        t: Values of Student's t.
        freedom: The degrees of freedom of each, 1 or more.
    """
    shrunk = np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    result: Floats = np.copysign(shrunk, t)
    return result


def rank_ranges(scores: Floats) -> list[tuple[int, int]]:
    """Return the lowest and the highest rank that each bot may have, from 1.

    A range goes from 1 + the bots that are surely better to n - the bots that are surely worse.
    Holm's step-down procedure over all pairs keeps the chance of any false claim in the table below
    5 %.

    Args:
        scores: The scores of the n bots, from `scores_of_pairs`.
    """
    bots = len(scores)
    upper = np.triu_indices(bots, 1)
    values = np.asarray(_erfc(np.abs(scores[upper]) / sqrt(2)), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    bounds = _ERROR_RATE / np.arange(len(values), 0, -1)
    failed = values[order] > bounds
    claims = order[: int(np.argmax(failed)) if failed.any() else len(order)]
    first, second = upper[0][claims], upper[1][claims]
    above = scores[first, second] > 0
    worse = np.bincount(np.where(above, second, first), minlength=bots)
    better = np.bincount(np.where(above, first, second), minlength=bots)
    return list(zip((1 + worse).tolist(), (bots - better).tolist(), strict=True))


def best_probabilities(mu: Sequence[float], covariance: Floats) -> list[float]:
    """Return the probability of each bot that it is the best of them.

    The ratings are drawn along a fixed quasi-random sequence (Richtmyer's, as in Genz and Bretz,
    Computation of Multivariate Normal and t Probabilities), so the same table has the same values.

    Args:
        mu: The ratings.
        covariance: The covariance of their errors, [bot, bot].
    """
    centre = np.asarray(mu, dtype=np.float64)
    rivals = _rivals(centre, covariance)
    result = np.zeros(len(centre))
    result[rivals] = _shares_of_wins(centre[rivals], covariance[np.ix_(rivals, rivals)])
    return result.tolist()


def _rivals(mu: Floats, covariance: Floats) -> Integers:
    """Return the bots that may be better than the one with the highest rating."""
    if len(mu) < 2:
        return np.arange(len(mu))
    leader, variances = int(np.argmax(mu)), np.diag(covariance)
    spread = variances + variances[leader] - 2 * covariance[leader]
    behind = mu[leader] - mu
    return np.flatnonzero(behind <= _HOPELESS * np.sqrt(np.maximum(spread, 0)))


def _shares_of_wins(mu: Floats, covariance: Floats) -> Floats:
    """Return the share of the points of the fixed sequence at which each bot is the best."""
    bots = len(mu)
    if bots < 2:
        return np.ones(bots)
    # The best bot depends on differences alone; a common error makes the matrix positive definite.
    scale = float(np.diag(covariance).mean())
    root = np.linalg.cholesky(covariance + scale * (1 + 1e-9 * np.eye(bots)))
    wins = np.zeros(bots, dtype=np.int64)
    steps = np.sqrt(_primes(2 * ((bots + 1) // 2)))
    chunks = max(_CHUNKS, _CHUNKS_OF_ALL // bots)
    for chunk in range(chunks):
        uniform = np.outer(np.arange(1, _CHUNK + 1) + chunk * _CHUNK, steps)
        uniform -= np.floor(uniform)  # five times as fast as % 1
        length = np.sqrt(-2 * np.log1p(-uniform[:, 0::2]))
        angle = 2 * pi * uniform[:, 1::2]
        normal = np.hstack([length * np.cos(angle), length * np.sin(angle)])[:, :bots]
        errors = normal @ root.T
        for drawn in (mu + errors, mu - errors):
            wins += np.bincount(drawn.argmax(axis=1), minlength=bots)
    result: Floats = wins / (2 * _CHUNK * chunks)
    return result


def _primes(count: int) -> Integers:
    """Return the first `count` primes."""
    size = 16
    while True:
        sieve = np.ones(size, dtype=bool)
        sieve[:2] = False
        for number in range(2, int(sqrt(size)) + 1):
            sieve[number * number :: number] = False
        primes = np.flatnonzero(sieve)
        if len(primes) >= count:
            return primes[:count]
        size *= 2
