"""The error rates of `tourney compare`, and its length against the length that it announces.

Leads are drawn from what tables of several sizes give, tilted until A is ahead by exactly d0 or
d1. ``SIZE_UNIT_better_at_d0`` and ``SIZE_UNIT_not_better_at_d1`` are the shares of wrong verdicts,
to be at most 5 % each, and ``_limit`` the upper 95 % limits of these shares. ``_length`` is the
median number of matches divided by the number that was announced. Of the first tests of each kind,
``_covered`` is the share of 95 % intervals, corrected for the stopping, that hold the true lead,
and ``_too_high`` the share of corrected leads that are above it.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from figures import report
from tourney_runner.ratings.gsprt import (
    ComparisonOutcome,
    Rule,
    corrected,
    expected_matches,
    log_likelihood_ratios,
)

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Leads = dict[float, float]
    Floats = NDArray[np.float64]

_CORRECTED = 50
"""Tests of each kind whose corrected lead is computed, which takes longer than the test."""


class Trials(NamedTuple):
    """The ends of many tests, one entry each."""

    llr: Floats
    matches: NDArray[np.int64]
    mean: Floats
    deviation: Floats


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    figures: dict[str, float] = {}
    for name, leads in _cases().items():
        for unit in ("sd", "places"):
            deviation = _moments(leads)[1]
            d1 = 0.2 if unit == "sd" else 0.2 * deviation
            rule = Rule(d1=d1, unit=unit)  # type: ignore[arg-type]
            announced = expected_matches(rule, deviation)
            for truth, wrong in (("d0", "better"), ("d1", "not better")):
                tilted = _tilted(leads, 0.0 if truth == "d0" else 0.2)
                key = f"{name}_{unit}_{wrong.replace(' ', '_')}_at_{truth}"
                trials = run(rule, tilted, arguments.trials)
                for figure, value in summary(rule, tilted, trials, wrong, announced).items():
                    figures[key + figure] = value
    return figures


def run(rule: Rule, leads: Leads, trials: int) -> Trials:
    """Run tests side by side, each until its verdict."""
    values = np.array(sorted(leads))
    edges = np.cumsum([leads[value] for value in sorted(leads)])[:-1]
    random = np.random.RandomState(1)
    counts, llr = np.zeros((trials, len(values))), np.zeros(trials)
    running = np.arange(trials)
    for _ in range(rule.cap):
        drawn = np.searchsorted(edges, random.random_sample(len(running)))
        counts[running, drawn] += 1
        llr[running] = log_likelihood_ratios(values, counts[running], rule)
        running = running[(llr[running] < rule.upper) & (llr[running] > rule.lower)]
        if not len(running):
            break
    matches = counts.sum(axis=1)
    mean = counts @ values / matches
    squares = (counts * np.square(values - mean[:, np.newaxis])).sum(axis=1)
    deviation = np.sqrt(squares / np.maximum(matches - 1, 1))
    return Trials(llr, matches.astype(np.int64), mean, deviation)


def summary(
    rule: Rule, leads: Leads, trials: Trials, wrong: str, announced: float
) -> dict[str, float]:
    """Return the figures of tests of one kind."""
    count = len(trials.llr)
    better = trials.llr >= rule.upper
    errors = better if wrong == "better" else trials.llr <= rule.lower
    share = float(errors.mean())
    truth = _moments(leads)[0]
    estimates = [
        corrected(
            rule,
            ComparisonOutcome(
                "better" if better[one] else "not better",
                int(trials.matches[one]),
                float(trials.mean[one]),
                float(trials.deviation[one]),
                float(trials.llr[one]),
            ),
        )
        for one in range(min(count, _CORRECTED))
    ]
    return {
        "": share,
        "_limit": share + 1.645 * sqrt(share * (1 - share) / count),
        "_length": float(np.median(trials.matches)) / announced,
        "_covered": float(np.mean([one.low <= truth <= one.high for one in estimates])),
        "_too_high": float(np.mean([one.lead > truth for one in estimates])),
    }


def _cases() -> dict[str, Leads]:
    """Return leads of equal bots, with their shares."""
    return {
        "2_seats": {-1.0: 0.5, 1.0: 0.5},
        "2_seats_90_percent_level": {-1.0: 0.05, 0.0: 0.9, 1.0: 0.05},
        "4_seats": _places(4, 1),
        "14_seats": _places(14, 2),
    }


def _places(seats: int, rotations: int) -> Leads:
    """Return the mean lead of two among equal players over some independent deals."""
    one = {float(a - b): 0.0 for a in range(seats) for b in range(seats) if a != b}
    for a in range(seats):
        for b in range(seats):
            if a != b:
                one[float(a - b)] += 1 / (seats * (seats - 1))
    found = {0.0: 1.0}
    for _ in range(rotations):
        after: Leads = {}
        for total, share in found.items():
            for lead, chance in one.items():
                after[total + lead] = after.get(total + lead, 0.0) + share * chance
        found = after
    return {total / rotations: share for total, share in found.items()}


def _tilted(leads: Leads, ratio: float) -> Leads:
    """Return the leads weighted exponentially until their mean is `ratio` deviations."""
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        mean, deviation = _moments(_weighted(leads, middle))
        low, high = (middle, high) if mean < ratio * deviation else (low, middle)
    return _weighted(leads, low)


def _weighted(leads: Leads, tilt: float) -> Leads:
    most = max(lead * tilt for lead in leads)
    weights = {lead: share * exp(lead * tilt - most) for lead, share in leads.items()}
    total = sum(weights.values())
    return {lead: weight / total for lead, weight in weights.items()}


def _moments(leads: Leads) -> tuple[float, float]:
    mean = sum(lead * share for lead, share in leads.items())
    return mean, sqrt(sum(share * (lead - mean) ** 2 for lead, share in leads.items()))


if __name__ == "__main__":
    report(measure, __doc__ or "", trials=3000)
