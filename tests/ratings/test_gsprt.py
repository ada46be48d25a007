from __future__ import annotations

from math import exp, inf, log
from random import Random
from statistics import median

import pytest
from simulation import deal, played
from tourney_runner.ratings.gsprt import (
    Comparison,
    Rule,
    compare,
    corrected,
    expected_matches,
    leads,
)

TRIALS = [30, pytest.param(3000, marks=pytest.mark.slow)]
LONGEST = 600
"""Matches drawn for a test, many more than any needs."""
CASES = {
    "two seats": ([-1.0, 1.0], [0.5, 0.5]),
    "two seats, mostly level": ([-1.0, 0.0, 1.0], [0.05, 0.9, 0.05]),
    "four seats": ([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.0, 2.0, 1.0]),
}


def moments(values: list[float], weights: list[float]) -> tuple[float, float]:
    total = sum(weights)
    mean = sum(v * w for v, w in zip(values, weights, strict=True)) / total
    variance = sum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True)) / total
    return mean, variance**0.5


def tilted(values: list[float], weights: list[float], ratio: float) -> list[float]:
    """The weights under which the mean lead is `ratio` standard deviations."""
    low, high = -5.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        found = [w * exp(middle * v) for v, w in zip(values, weights, strict=True)]
        mean, deviation = moments(values, found)
        low, high = (middle, high) if mean < ratio * deviation else (low, middle)
    return found


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize(
    ("case", "unit"),
    [("two seats", "sd"), ("two seats, mostly level", "places"), ("four seats", "sd")],
)
def test_verdicts_are_wrong_as_seldom_as_promised_and_come_when_announced(
    case: str, unit: str, trials: int
) -> None:
    values, weights = CASES[case]
    deviation = moments(values, weights)[1]
    d1 = 0.25 if unit == "sd" else 0.25 * deviation
    rule = Rule(d1=d1, unit=unit)  # type: ignore[arg-type]
    lengths: list[int] = []
    for wrong, ratio in (("better", 0.0), ("not better", 0.25)):
        share = tilted(values, weights, ratio)
        truth = moments(values, share)[0]
        outcomes = [
            compare(rule, Random(seed).choices(values, share, k=LONGEST)) for seed in range(trials)
        ]
        estimates = [corrected(rule, outcome) for outcome in outcomes]
        errors = sum(outcome.verdict == wrong for outcome in outcomes)
        covered = sum(one.low <= truth <= one.high for one in estimates)
        high = sum(one.lead > truth for one in estimates)
        lengths += [outcome.matches for outcome in outcomes]
        assert errors <= 0.05 * trials + 2.5 * (0.05 * trials) ** 0.5, wrong
        assert covered >= 0.9 * trials - 2.5 * (0.1 * trials) ** 0.5, wrong
        assert 0.25 * trials <= high <= 0.75 * trials, wrong
    announced = expected_matches(rule, deviation)
    assert 0.7 * announced <= median(lengths) <= 1.35 * announced


def test_a_large_difference_is_found_soon() -> None:
    values, weights = CASES["four seats"]
    share = tilted(values, weights, 0.8)
    outcomes = []
    for seed in range(20):
        random = Random(seed)
        leads_drawn = (random.choices(values, share)[0] for _ in range(1000))
        outcomes.append(compare(Rule(), leads_drawn))
    assert all(outcome.verdict == "better" for outcome in outcomes)
    assert sum(outcome.matches for outcome in outcomes) / 20 < 150


def test_matches_that_all_end_level_decide_nothing_soon() -> None:
    assert compare(Rule(unit="places"), [0.0] * 20).verdict is None
    later = compare(Rule(unit="places"), [0.0] * 1000)
    # Where A gains a place in 10 % of matches, 28 level matches in a row have a chance of 5 %.
    assert (later.verdict, later.matches) == ("not better", 29)


def test_wins_alone_decide_as_their_odds_say() -> None:
    outcome = compare(Rule(), [1.0] * 100)
    assert (outcome.verdict, outcome.matches) == ("better", 32)
    assert compare(Rule(), [-1.0] * 100).verdict == "not better"


def test_a_lead_that_can_be_a_place_tests_a_bound_of_several() -> None:
    assert compare(Rule(d1=5, unit="places"), [1.0, -1.0] * 20).verdict == "not better"


def test_the_bounds_follow_the_error_rates() -> None:
    assert Rule().upper == pytest.approx(2.944, abs=1e-3)
    assert Rule().lower == pytest.approx(-2.944, abs=1e-3)
    assert Rule(alpha=0.01, beta=0.2).upper == pytest.approx(log(80))


def test_two_bots_without_draws_come_to_a_verdict() -> None:
    outcome = compare(Rule(), leads(played([1.0, 0.0], 2, 200, seed=1), 0, 1))
    assert outcome.verdict == "better"


def test_the_cap_ends_an_undecided_test() -> None:
    outcome = compare(Rule(cap=30), [1.0, -0.9] * 100)
    assert outcome.verdict == "undecided"
    assert outcome.matches == 30


def test_matches_count_alike_one_by_one_and_at_once() -> None:
    values, weights = CASES["four seats"]
    drawn = Random(3).choices(values, weights, k=120)
    for rule in (Rule(), Rule(unit="places", d1=0.4), Rule(cap=100)):
        one_by_one = Comparison(rule)
        for lead in drawn:
            one_by_one.add(lead)
        assert one_by_one.outcome() == compare(rule, drawn)


def test_nothing_changes_after_the_verdict() -> None:
    comparison = Comparison(Rule())
    for _ in range(40):
        comparison.add(1.0)
    decided = comparison.outcome()
    assert decided.verdict == "better"
    assert comparison.add(-50.0) == "better"
    assert comparison.outcome() == decided


def test_the_lead_of_a_match_is_the_mean_over_its_deals() -> None:
    deals = [
        deal([0, 1, 2], [1, 2, 3], (0, 0, 0)),
        deal([2, 0, 1], [1, 2, 2], (0, 0, 1)),
        deal([2, 3, 1], [1, 2, 3], (0, 1, 0)),
        deal([1, 0, 3], [1, 3, 2], (0, 2, 0)),
    ]
    assert list(leads(deals, 0, 1)) == [0.5, -2.0]
    assert list(leads(deals, 1, 0)) == [-0.5, 2.0]


@pytest.mark.parametrize(
    "wrong",
    [{"d0": 0.1}, {"alpha": 0.0}, {"beta": 0.5}, {"cap": 0}, {"d1": inf}],
)
def test_contradicting_constants_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Rule(**wrong)  # type: ignore[arg-type]
