"""Is A better than B? A sequential test that may be looked at after every match.

Looking at an ordinary interval again and again finds a "significant" difference sooner or later
where there is none. The generalised sequential probability ratio test may stop at any time: it
weighs the hypothesis that A is ahead of B by `d1` places against one of `d0`, and its bounds
hold however often it is looked at. It works on the difference of places in a match, which has a
variance in every game, with or without draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from tourney_runner.ratings.rated_deals import average_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tourney_runner.ratings.rated_deals import Deal

__all__ = ["Comparison", "ComparisonOutcome", "Rule", "Verdict", "compare", "leads"]

Verdict = Literal["better", "not better", "undecided"]
"""`undecided` is final: the cap was reached."""


@dataclass(frozen=True)
class Rule:
    """What is asked and how sure the answer must be.

    Raises:
        ValueError: The constants contradict each other; the message names them.
    """

    d0: float = 0.0
    """Not better: A is ahead by so many places at most."""
    d1: float = 0.1
    """Better: A is ahead by so many places at least."""
    alpha: float = 0.05
    """How often "better" may be wrong if A is ahead by `d0`."""
    beta: float = 0.05
    """How often "not better" may be wrong if A is ahead by `d1`."""
    cap: int = 10_000
    """Matches after which the test gives up."""
    least: int = 20
    """Matches before it says anything: a variance from fewer is not worth much."""

    def __post_init__(self) -> None:
        if not (isfinite(self.d0) and isfinite(self.d1) and self.d0 < self.d1):
            raise ValueError(f"d0 {self.d0} must be below d1 {self.d1}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name} is {value}, expected above 0 and below 0.5")
        if not 2 <= self.least <= self.cap:
            raise ValueError(f"least {self.least} must be from 2 to the cap {self.cap}")

    @property
    def upper(self) -> float:
        """The log-likelihood ratio from which A is better; 2.94 at 5 % and 5 %."""
        return log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """The log-likelihood ratio down from which A is not better."""
        return log(self.beta / (1 - self.alpha))


class ComparisonOutcome(NamedTuple):
    """The state of a test."""

    verdict: Verdict | None
    """None while it goes on."""
    matches: int
    lead: float
    """By how many places A was ahead on average."""
    error: float
    """The standard error of `lead`; infinite before the second match."""
    llr: float
    """The log-likelihood ratio of d1 against d0."""


class Comparison:
    """A test under way. Matches must be added in schedule order, without gaps.

    Which match finishes first says something about who plays in it, so a test on whatever is
    finished could be misled; on prefixes of the schedule it cannot.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._matches = 0
        self._mean = 0.0
        self._squares = 0.0
        self._verdict: Verdict | None = None

    def add(self, lead: float) -> Verdict | None:
        """Take in a match, by how many places A was ahead of B; none after the verdict.

        Returns:
            The verdict, None while the test goes on.
        """
        if self._verdict is None:
            self._matches += 1
            off = lead - self._mean
            self._mean += off / self._matches
            self._squares += off * (lead - self._mean)
            self._verdict = self._decide()
        return self._verdict

    def outcome(self) -> ComparisonOutcome:
        """Where the test stands."""
        error = sqrt(self._variance() / self._matches) if self._matches > 1 else inf
        return ComparisonOutcome(self._verdict, self._matches, self._mean, error, self._llr())

    def _variance(self) -> float:
        return self._squares / (self._matches - 1)

    def _llr(self) -> float:
        rule = self._rule
        if self._matches < 2:
            return 0.0
        excess = 2 * self._mean - rule.d0 - rule.d1
        variance = self._variance()
        if variance <= 1e-12:  # every match alike: certain, unless halfway between
            return copysign(inf, excess) if excess else 0.0
        return (rule.d1 - rule.d0) * excess * self._matches / (2 * variance)

    def _decide(self) -> Verdict | None:
        if self._matches >= self._rule.least:
            llr = self._llr()
            if llr >= self._rule.upper:
                return "better"
            if llr <= self._rule.lower:
                return "not better"
        return "undecided" if self._matches >= self._rule.cap else None


def compare(rule: Rule, leads: Iterable[float]) -> ComparisonOutcome:
    """Run a test over matches in schedule order, no further than its verdict."""
    comparison = Comparison(rule)
    for lead in leads:
        if comparison.add(lead) is not None:
            break
    return comparison.outcome()


def leads(deals: Iterable[Deal], a: int, b: int) -> Iterator[float]:
    """By how many places A finished ahead of B, match by match.

    Args:
        deals: In schedule order; those without A or B are skipped.
        a: A's entrant number.
        b: B's.

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
