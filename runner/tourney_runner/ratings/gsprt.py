"""A sequential test of two bots that may be checked after every match.

Repeated checks of an ordinary interval find a "significant" difference sooner or later, even
between equal bots. The generalised sequential probability ratio test (GSPRT) may stop at any time:
it weighs the hypothesis that A is ahead of B by `d1` against one of `d0`, and its error bounds hold
regardless of the number of checks.

The likelihood is the exact multinomial one of the leads that occur (Van den Bergh, "A practical
introduction to the GSPRT", as fishtest uses it). It does not assume normal leads, so it holds where
most matches end level. The leads one step ahead and one step behind count as possible from the
start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import exp, isfinite, log, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tourney_runner.ratings.model import average_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal

    Floats = NDArray[np.float64]

__all__ = [
    "Comparison",
    "ComparisonOutcome",
    "Corrected",
    "Rule",
    "Unit",
    "Verdict",
    "compare",
    "corrected",
    "expected_matches",
    "leads",
    "log_likelihood_ratios",
]

Verdict = Literal["better", "not better", "undecided"]
"""`undecided` is final: the cap was reached."""
Unit = Literal["sd", "places"]
"""Unit of the bounds: standard deviations of the lead in a match, or places."""

_PRIOR = 0.001
"""Matches assumed in advance for each of the two leads next to 0."""
_BATCH = 128
"""Matches after which the test is evaluated at a time; bounds the work after the verdict."""
_DIGITS = 9
"""Digits kept of a lead, as rotations divide it by small numbers, and of a log-likelihood ratio."""
_STILL = 1e-7
"""A search ends when a share changes by less than this, or a root by less than this part of its
range.
"""


@dataclass(frozen=True)
class Rule:
    """A hypothesis to test, with the error rates and the cap of the test.

    Raises:
        ValueError: The constants contradict each other; the message names them.
    """

    d0: float = 0.0
    """The greatest lead of A that counts as "not better"."""
    d1: float = 0.1
    """The least lead of A that counts as "better"."""
    alpha: float = 0.05
    """The probability of a wrong "better" if A is ahead by `d0`."""
    beta: float = 0.05
    """The probability of a wrong "not better" if A is ahead by `d1`."""
    cap: int = 10_000
    """Matches after which the test ends as undecided."""
    unit: Unit = "sd"

    def __post_init__(self) -> None:
        if not (isfinite(self.d0) and isfinite(self.d1) and self.d0 < self.d1):
            raise ValueError(f"d0 {self.d0} must be below d1 {self.d1}")
        if self.unit == "sd" and not -0.5 <= self.d0 < self.d1 <= 0.5:
            raise ValueError(
                f"d0 {self.d0:g} and d1 {self.d1:g} must be from -0.5 to 0.5 standard deviations;"
                " larger leads are tested in places"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name} is {value}, expected above 0 and below 0.5")
        if self.cap < 1:
            raise ValueError(f"cap is {self.cap}, expected 1 or more")

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which A is better; 2.94 at 5 % and 5 %."""
        return log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which A is not better."""
        return log(self.beta / (1 - self.alpha))


class ComparisonOutcome(NamedTuple):
    """The state of a test."""

    verdict: Verdict | None
    """None while the test is running."""
    matches: int
    lead: float
    """The mean lead of A, in places."""
    deviation: float
    """The standard deviation of the lead in a match; 0 before the second match."""
    llr: float
    """The log-likelihood ratio of d1 against d0."""


class Comparison:
    """A running test. Matches must be added in schedule order, without gaps.

    The order in which matches finish depends on the players in them, so a test on the matches that
    happen to be finished could be biased. Prefixes of the schedule avoid that.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._counts: dict[float, int] = {}
        self._matches = 0
        self._llr = 0.0
        self._verdict: Verdict | None = None

    def add(self, *leads: float) -> Verdict | None:
        """Add matches; matches after the verdict are ignored.

        Args:
            leads: The lead of A over B in each match, in places.

        Returns:
            The verdict, or None while the test is running.
        """
        for first in range(0, len(leads), _BATCH):
            if self._verdict is None:
                self._add_batch([round(lead, _DIGITS) for lead in leads[first : first + _BATCH]])
        return self._verdict

    def _add_batch(self, leads: list[float]) -> None:
        """Evaluate the test after each of some matches, up to the verdict."""
        values = np.array(sorted({*self._counts, *leads}))
        before = [self._counts.get(value, 0) for value in values.tolist()]
        counts = before + np.cumsum(np.equal.outer(leads, values), axis=0, dtype=np.float64)
        ratios = log_likelihood_ratios(values, counts, self._rule).tolist()
        for lead, ratio in zip(leads, ratios, strict=True):
            self._counts[lead] = self._counts.get(lead, 0) + 1
            self._matches += 1
            self._llr = round(ratio, _DIGITS)
            self._verdict = self._decide()
            if self._verdict is not None:
                return

    def outcome(self) -> ComparisonOutcome:
        """Return the state of the test."""
        total = sum(value * count for value, count in self._counts.items())
        lead = total / self._matches if self._matches else 0.0
        squares = sum(count * (value - lead) ** 2 for value, count in self._counts.items())
        deviation = sqrt(squares / (self._matches - 1)) if self._matches > 1 else 0.0
        return ComparisonOutcome(self._verdict, self._matches, lead, deviation, self._llr)

    def _decide(self) -> Verdict | None:
        if self._llr >= self._rule.upper:
            return "better"
        if self._llr <= self._rule.lower:
            return "not better"
        return "undecided" if self._matches >= self._rule.cap else None


def compare(rule: Rule, leads: Iterable[float]) -> ComparisonOutcome:
    """Run a test over matches in schedule order and stop at the verdict."""
    comparison = Comparison(rule)
    comparison.add(*leads)
    return comparison.outcome()


def leads(deals: Iterable[Deal], a: int, b: int) -> Iterator[float]:
    """Yield the lead of A over B, in places, for each match.

    Args:
        deals: In schedule order; those without A or B are skipped.
        a: A's entrant number.
        b: B's entrant number.

    Yields:
        The mean over the deals of a match, positive where A was ahead.
    """
    match, total, count = None, 0.0, 0
    for deal in deals:
        if a not in deal.seating or b not in deal.seating:
            continue
        if deal.key[:2] != match:
            if count:
                yield total / count
            match, total, count = deal.key[:2], 0.0, 0
        places = dict(zip(deal.seating, average_places(deal.places), strict=True))
        total += places[b] - places[a]
        count += 1
    if count:
        yield total / count


def log_likelihood_ratios(values: Floats, counts: Floats, rule: Rule) -> Floats:
    """Return the log-likelihood ratio of d1 against d0, each at its most likely leads.

    Several tests are evaluated at once, as simulations need it.

    Args:
        values: The leads that may occur, [lead].
        counts: The number of matches with each lead, [test, lead].
        rule: The bounds.

    Returns:
        One ratio a test.
    """
    own = np.where((counts > 0) & (values != 0), np.abs(values), np.inf).min(axis=1)
    step = np.where(np.isfinite(own), own, 1.0)
    if rule.unit == "places":  # a mean of d1 must be possible
        step = np.maximum(step, 2 * max(abs(rule.d0), abs(rule.d1)))
    support = np.hstack([np.broadcast_to(values, counts.shape), np.outer(step, [1.0, -1.0])])
    weight = np.hstack([counts, np.full((len(counts), 2), _PRIOR)])
    shares = weight / weight.sum(axis=1, keepdims=True)
    likeliest = _with_mean if rule.unit == "places" else _with_ratio
    one, other = (likeliest(support, shares, bound) for bound in (rule.d1, rule.d0))
    possible = weight > 0
    ratio = np.divide(one, other, out=np.ones_like(one), where=possible)
    result: Floats = (weight * np.log(ratio)).sum(axis=1)
    return result


def _with_mean(values: Floats, shares: Floats, mean: float) -> Floats:
    """Return the most likely distributions over the values with the given mean, [test, lead]."""
    distances = values - mean
    found: Floats = shares / (1 + _secular(distances, shares) * distances)
    return found


def _with_ratio(values: Floats, shares: Floats, ratio: float) -> Floats:
    """Return the most likely distributions whose mean is `ratio` of their standard deviations.

    The constraint is linearised at the last distribution, repeatedly until the shares converge.
    """
    possible = shares > 0
    found: Floats = possible / possible.sum(axis=1, keepdims=True)
    running = np.arange(len(values))
    for _ in range(50):
        before, leads = found[running], values[running]
        mean = (before * leads).sum(axis=1, keepdims=True)
        deviation = np.sqrt((before * (leads - mean) ** 2).sum(axis=1, keepdims=True))
        bent = leads - ratio * deviation * (1 + ((mean - leads) / deviation) ** 2) / 2
        low = np.where(possible[running], bent, np.inf).min(axis=1)
        high = np.where(possible[running], bent, -np.inf).max(axis=1)
        linear = (low < 0) & (high > 0)
        after = np.empty_like(before)
        if linear.any():
            rows = running[linear]
            slope = _secular(bent[linear], shares[rows])
            after[linear] = shares[rows] / (1 + slope * bent[linear])
        if not linear.all():  # too far away for the linear form
            rows = running[~linear]
            after[~linear] = _tilted(values[rows], possible[rows], ratio)
        found[running] = after
        running = running[~linear | (np.abs(after - before).max(axis=1) >= _STILL)]
        if not len(running):
            break
    return found


def _tilted(values: Floats, possible: NDArray[np.bool_], ratio: float) -> Floats:
    """Return the exponential weights whose mean is `ratio` of their standard deviations."""
    scaled = values / np.where(possible, np.abs(values), 0).max(axis=1, keepdims=True)
    low, high = np.full((len(values), 1), -100.0), np.full((len(values), 1), 100.0)
    weights: Floats = np.zeros_like(values)
    for _ in range(60):
        tilt = (low + high) / 2
        weights = np.where(possible, np.exp(np.minimum(tilt * scaled - np.abs(tilt), 0)), 0)
        weights /= weights.sum(axis=1, keepdims=True)
        mean = (weights * values).sum(axis=1, keepdims=True)
        deviation = np.sqrt((weights * (values - mean) ** 2).sum(axis=1, keepdims=True))
        less = mean < ratio * deviation
        low, high = np.where(less, tilt, low), np.where(less, high, tilt)
    return weights


def _secular(distances: Floats, shares: Floats) -> Floats:
    """Solve sum(share d / (1 + x d)) = 0 for x; the left side falls between its two poles.

    Returns:
        One solution a test, [test, 1].
    """
    possible = shares > 0
    low = -1 / np.where(possible, distances, -np.inf).max(axis=1, keepdims=True)
    high = -1 / np.where(possible, distances, np.inf).min(axis=1, keepdims=True)
    distances = np.where(possible, distances, 0)
    x: Floats = np.zeros_like(low)
    for _ in range(100):
        scaled = distances / (1 + x * distances)
        value = (shares * scaled).sum(axis=1, keepdims=True)
        low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
        nearer = x + value / (shares * scaled * scaled).sum(axis=1, keepdims=True)
        nearer = np.where((low < nearer) & (nearer < high), nearer, (low + high) / 2)
        still = np.abs(nearer - x) <= _STILL * (high - low)
        x = nearer
        if still.all():
            break
    return x


# The log-likelihood ratio moves like a Brownian motion between the two bounds. Its time is matches
# times (d1 - d0)² in standard deviations. Its drift is 1/2 if A is ahead by d1 and -1/2 if A is
# ahead by d0. The following functions use the known series for the time at which it leaves the
# interval.

_TERMS = 200


def expected_matches(rule: Rule, deviation: float | None = None) -> float:
    """Return the median length of the test if A is ahead by exactly d0 or d1.

    The longer of the two is returned.

    Args:
        rule: The test.
        deviation: The standard deviation of the lead in a match, for bounds in places.
    """
    step = (rule.d1 - rule.d0) / (1.0 if rule.unit == "sd" else deviation or 1.0)

    def over(time: float, drift: float) -> float:
        exits = _exits(rule.lower, rule.upper, drift)
        return exits(time)[0] + exits(time)[1] - 0.5

    return max(_root(partial(over, drift=drift), 1e-3, 1e4) for drift in (-0.5, 0.5)) / step**2


class Corrected(NamedTuple):
    """The lead of A after a test has stopped, in places."""

    lead: float
    """Median-unbiased: too high in half of all comparisons, too low in the other half."""
    low: float
    high: float
    """The bounds of the 95 % interval."""


def corrected(rule: Rule, outcome: ComparisonOutcome) -> Corrected:
    """Return the lead corrected for the stopping rule.

    The mean lead over the matches is biased away from the middle: a test stops when A has been
    lucky or unlucky. Outcomes are ordered by the bound at which they stopped and by how soon, and
    the lead is read from this order (Siegmund 1978). A test that has not stopped at a bound needs
    no correction.
    """
    deviation = outcome.deviation
    if outcome.matches < 2 or deviation <= 0:
        return Corrected(outcome.lead, outcome.lead, outcome.lead)
    if outcome.verdict not in {"better", "not better"}:
        reach = NormalDist().inv_cdf(0.975) * deviation / sqrt(outcome.matches)
        return Corrected(outcome.lead, outcome.lead - reach, outcome.lead + reach)
    unit = 1.0 if rule.unit == "places" else deviation
    d0, d1 = rule.d0 * unit / deviation, rule.d1 * unit / deviation
    time = outcome.matches * (d1 - d0) ** 2
    lower, upper = min(rule.lower, outcome.llr), max(rule.upper, outcome.llr)

    def at_least_as_high(drift: float) -> float:
        above, below = _exits(lower, upper, drift)(time)
        return above if outcome.verdict == "better" else 1 - below

    def lead(chance: float) -> float:
        drift = _root(lambda m: at_least_as_high(m) - chance, -40.0, 40.0)
        return deviation * ((d0 + d1) / 2 + drift * (d1 - d0))

    return Corrected(lead(0.5), lead(0.025), lead(0.975))


def _exits(lower: float, upper: float, drift: float) -> Callable[[float], tuple[float, float]]:
    """Return a function that maps a time to the probabilities of exit above and below by then."""
    width, start = upper - lower, -lower

    def one_side(distance: float, m: float) -> Callable[[float], float]:
        """Return the probability of exit by a time at the side that is `distance` away."""
        ever = _share(m, width - distance, width)

        def by(time: float) -> float:
            total = 0.0
            for n in range(1, _TERMS):
                k = n * pi / width
                rate = k * k + m * m
                decay = exp(-rate * time / 2)
                if decay < 1e-18:
                    break
                total += n * (-1) ** (n + 1) * sin(k * (width - distance)) * 2 / rate * decay
            still = pi / (width * width) * exp(min(m * distance, 700.0)) * total
            return min(1.0, max(0.0, ever - still))

        return by

    above, below = one_side(upper, drift), one_side(start, -drift)
    return lambda time: (above(time), below(time))


def _share(m: float, start: float, width: float) -> float:
    """Return the probability that a motion with drift m from `start` leaves [0, width] above."""
    if abs(m) < 1e-9:
        return start / width
    if m > 0:
        return (1 - exp(-2 * m * start)) / (1 - exp(-2 * m * width))
    # This form avoids overflow.
    return exp(2 * m * (width - start)) * (1 - exp(2 * m * start)) / (1 - exp(2 * m * width))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a rising function, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
