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

from tourney_runner.ratings.rated_deals import average_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.rated_deals import Deal

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
]

Verdict = Literal["better", "not better", "undecided"]
"""`undecided` is final: the cap was reached."""
Unit = Literal["sd", "places"]
"""Unit of the bounds: standard deviations of the lead in a match, or places."""

_PRIOR = 0.001
"""Matches assumed in advance for each of the two leads next to 0."""
_DIGITS = 9
"""Digits kept of a lead; rotations divide it by small numbers."""
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

    def add(self, lead: float) -> Verdict | None:
        """Add a match; matches after the verdict are ignored.

        Args:
            lead: The lead of A over B, in places.

        Returns:
            The verdict, or None while the test is running.
        """
        if self._verdict is None:
            value = round(lead, _DIGITS)
            self._counts[value] = self._counts.get(value, 0) + 1
            self._matches += 1
            self._llr = _llr(self._counts, self._rule)
            self._verdict = self._decide()
        return self._verdict

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
    for lead in leads:
        if comparison.add(lead) is not None:
            break
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


def _llr(counts: dict[float, int], rule: Rule) -> float:
    """Return the log-likelihood ratio of d1 against d0, each at its most likely leads."""
    step = min((abs(value) for value in counts if value), default=1.0)
    if rule.unit == "places":  # a mean of d1 must be possible
        step = max(step, 2 * abs(rule.d0), 2 * abs(rule.d1))
    weights = {step: _PRIOR, -step: _PRIOR}
    for value, count in counts.items():
        weights[value] = weights.get(value, 0.0) + count
    values = np.array(sorted(weights))
    weight = np.array([weights[value] for value in sorted(weights)])
    shares = weight / weight.sum()
    likeliest = _with_mean if rule.unit == "places" else _with_ratio
    one, other = (likeliest(values, shares, bound) for bound in (rule.d1, rule.d0))
    return float((weight * np.log(one / other)).sum())


def _with_mean(values: Floats, shares: Floats, mean: float) -> Floats:
    """Return the most likely distribution over the values with the given mean."""
    distances = values - mean
    return shares / (1 + _secular(distances, shares) * distances)


def _with_ratio(values: Floats, shares: Floats, ratio: float) -> Floats:
    """Return the most likely distribution whose mean is `ratio` of its standard deviations.

    The constraint is linearised at the last distribution, repeatedly until the shares converge.
    """
    found = np.full_like(shares, 1 / len(shares))
    for _ in range(50):
        mean = float(found @ values)
        deviation = sqrt(float(found @ (values - mean) ** 2))
        bent = values - ratio * deviation * (1 + ((mean - values) / deviation) ** 2) / 2
        if bent.max() <= 0 or bent.min() >= 0:  # too far away for the linear form
            found = _tilted(values, ratio)
            continue
        before = found
        found = shares / (1 + _secular(bent, shares) * bent)
        if abs(found - before).max() < _STILL:
            break
    return found


def _tilted(values: Floats, ratio: float) -> Floats:
    """Return the exponential weights whose mean is `ratio` of their standard deviations."""
    low, high = -100.0, 100.0
    weights: Floats = np.ones_like(values)
    for _ in range(60):
        tilt = (low + high) / 2
        weights = np.exp(tilt * values / np.abs(values).max() - abs(tilt))
        weights /= weights.sum()
        mean = float(weights @ values)
        if mean < ratio * sqrt(float(weights @ (values - mean) ** 2)):
            low = tilt
        else:
            high = tilt
    return weights


def _secular(distances: Floats, shares: Floats) -> float:
    """Solve sum(share d / (1 + x d)) = 0 for x; the left side falls between its two poles."""
    low, high = -1 / float(distances.max()), -1 / float(distances.min())
    x = 0.0
    for _ in range(100):
        scaled = distances / (1 + x * distances)
        value = float(shares @ scaled)
        if value > 0:
            low = x
        else:
            high = x
        slope = float(shares @ (scaled * scaled))
        nearer = x + value / slope
        if not low < nearer < high:
            nearer = (low + high) / 2
        if abs(nearer - x) <= _STILL * (high - low):
            return nearer
        x = nearer
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
