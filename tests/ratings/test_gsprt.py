from __future__ import annotations

from math import inf, log
from random import Random
from typing import TYPE_CHECKING

import pytest
from simulation import deal, played
from tourney_runner.ratings.gsprt import Comparison, Rule, compare, leads

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIALS = [300, pytest.param(4000, marks=pytest.mark.slow)]


def close_places(lead: float, seed: int) -> Iterator[float]:
    """Differences of two places at tables of four: whole numbers, never 0."""
    random = Random(seed)
    values = [-3, -2, -1, 1, 2, 3]
    weights = [1 - lead / 4, 2, 3, 3, 2, 1 + lead / 4]
    balance = sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)
    while True:
        yield random.choices(values, weights)[0] + lead - balance


def share(verdict: str, lead: float, trials: int) -> float:
    outcomes = [compare(Rule(d1=0.3), close_places(lead, seed)) for seed in range(trials)]
    return sum(outcome.verdict == verdict for outcome in outcomes) / trials


@pytest.mark.parametrize("trials", TRIALS)
def test_without_a_difference_better_is_said_in_at_most_seven_per_cent(trials: int) -> None:
    assert share("better", 0.0, trials) <= 0.07


@pytest.mark.parametrize("trials", TRIALS)
def test_a_difference_of_d1_is_found_nearly_always(trials: int) -> None:
    assert share("better", 0.3, trials) >= 0.92


def test_a_large_difference_is_found_soon() -> None:
    outcomes = [compare(Rule(), close_places(0.9, seed)) for seed in range(100)]
    assert all(outcome.verdict == "better" for outcome in outcomes)
    assert sum(outcome.matches for outcome in outcomes) / 100 < 150


def test_the_likelihood_ratio_is_the_one_of_the_formula() -> None:
    comparison = Comparison(Rule(d0=0.0, d1=0.5))
    for lead in (1.0, -1.0, 2.0, 1.0):
        comparison.add(lead)
    outcome = comparison.outcome()
    mean, variance = 0.75, 1.5833333333333333
    assert outcome.lead == mean
    assert outcome.llr == pytest.approx(0.5 * (2 * mean - 0.5) * 4 / (2 * variance))
    assert outcome.error == pytest.approx((variance / 4) ** 0.5)
    assert outcome.verdict is None


def test_the_bounds_follow_the_error_rates() -> None:
    assert Rule().upper == pytest.approx(2.944, abs=1e-3)
    assert Rule().lower == pytest.approx(-2.944, abs=1e-3)
    assert Rule(alpha=0.01, beta=0.2).upper == pytest.approx(log(80))


ALIKE = [(1.0, "better", inf), (0.0, "not better", -inf), (-2.0, "not better", -inf)]


@pytest.mark.parametrize(("lead", "verdict", "llr"), ALIKE)
def test_matches_that_all_end_alike_are_decided(lead: float, verdict: str, llr: float) -> None:
    outcome = compare(Rule(), [lead] * 100)
    assert outcome.verdict == verdict
    assert outcome.matches == 20
    assert outcome.llr == llr


def test_two_bots_without_draws_come_to_a_verdict() -> None:
    outcome = compare(Rule(), leads(played([1.0, 0.0], 2, 200, seed=1), 0, 1))
    assert outcome.verdict == "better"


def test_the_cap_ends_an_undecided_test() -> None:
    outcome = compare(Rule(cap=30), [1.0, -0.9] * 100)
    assert outcome.verdict == "undecided"
    assert outcome.matches == 30


def test_nothing_changes_after_the_verdict() -> None:
    comparison = Comparison(Rule())
    for _ in range(20):
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
    [{"d0": 0.1}, {"alpha": 0.0}, {"beta": 0.5}, {"least": 1}, {"cap": 10}, {"d1": inf}],
)
def test_contradicting_constants_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Rule(**wrong)  # type: ignore[arg-type]
