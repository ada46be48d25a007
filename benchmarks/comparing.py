"""The error rates of `tourney compare`, and its length against the length that it announces.

Leads are drawn from what tables of several sizes give, tilted until A is ahead by exactly d0 or d1.
``SIZE_better_at_d0`` and ``SIZE_not_better_at_d1`` are the shares of wrong verdicts, to be at most
5 % each; ``_length`` is the median number of matches divided by the number that was announced;
``_covered`` is the share of 95 % intervals, corrected for the stopping, that hold the true lead,
and ``_too_high`` the share of corrected leads that are above it.
"""

from __future__ import annotations

import random
from math import exp, sqrt
from statistics import median
from typing import TYPE_CHECKING

from figures import report
from tourney_runner.ratings.gsprt import Comparison, Rule, corrected, expected_matches

if TYPE_CHECKING:
    import argparse

    Leads = dict[float, float]


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
                found = _trials(rule, tilted, arguments.trials, wrong)
                key = f"{name}_{unit}_{wrong.replace(' ', '_')}_at_{truth}"
                figures[key] = found["wrong"]
                figures[f"{key}_length"] = found["length"] / announced
                figures[f"{key}_covered"] = found["covered"]
                figures[f"{key}_too_high"] = found["too_high"]
    return figures


def _trials(rule: Rule, leads: Leads, trials: int, wrong: str) -> dict[str, float]:
    values, weights = list(leads), list(leads.values())
    truth = _moments(leads)[0]
    verdicts, lengths, covered, high = [], [], [], []
    for seed in range(trials):
        drawn = random.Random(seed)  # noqa: S311 - the same matches every time
        test = Comparison(rule)
        while test.outcome().verdict is None:
            test.add(drawn.choices(values, weights)[0])
        outcome = test.outcome()
        estimate = corrected(rule, outcome)
        verdicts.append(outcome.verdict == wrong)
        lengths.append(outcome.matches)
        covered.append(estimate.low <= truth <= estimate.high)
        high.append(estimate.lead > truth)
    return {
        "wrong": sum(verdicts) / trials,
        "length": median(lengths),
        "covered": sum(covered) / trials,
        "too_high": sum(high) / trials,
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
