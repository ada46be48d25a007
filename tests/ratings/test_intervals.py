from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from simulation import deal, played
from tourney_runner.ratings.analysis import analyse
from tourney_runner.ratings.bootstrap import percentiles, ranks, resample
from tourney_runner.ratings.group_sums import Columns
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.raters import OrderFreeRater
from tourney_runner.ratings.sandwich_covariance import covariance

NAMES = ["ada", "bob", "cyd", "dan", "eve", "fay"]
STRENGTHS = [0.5, 0.3, 0.1, -0.1, -0.3, -0.5]
TRIALS = [40, pytest.param(600, marks=pytest.mark.slow)]


def true_mean_places() -> list[float]:
    """At tables of two, by hand: the chance to lose to each of the others, averaged."""
    chance = NormalDist(0, sqrt(2)).cdf
    return [
        1 + sum(chance(other - own) for other in STRENGTHS if other is not own) / 5
        for own in STRENGTHS
    ]


@pytest.mark.parametrize("trials", TRIALS)
def test_intervals_of_mean_places_cover_the_truth_as_often_as_they_say(trials: int) -> None:
    truth = true_mean_places()
    covered = []
    for seed in range(trials):
        columns = Columns(len(STRENGTHS))
        for one in played(STRENGTHS, 2, 30, seed, rotations=2):
            columns.add(one)
        intervals = percentiles(resample(columns, 400, seed).mean_places)
        covered += [i.low <= mean <= i.high for i, mean in zip(intervals, truth, strict=True)]
    assert 0.90 <= sum(covered) / len(covered) <= 0.98


@pytest.mark.parametrize("rotations", [1, 3])
@pytest.mark.parametrize("trials", TRIALS)
def test_rating_intervals_cover_the_truth_as_often_as_they_say(trials: int, rotations: int) -> None:
    model = Model(mu=0, sigma=4, beta=1)
    covered = []
    for seed in range(trials):
        columns, rater = Columns(len(STRENGTHS)), OrderFreeRater(model, len(STRENGTHS))
        for one in played(STRENGTHS, 3, 30 // rotations, seed, rotations=rotations):
            columns.add(one)
            rater.add(one)
        fit = rater.fit()
        sigmas = np.sqrt(np.diag(covariance(fit, columns.group_of_deal)))
        covered += (abs(fit.mu - STRENGTHS) <= 1.96 * sigmas).tolist()
    assert 0.90 <= sum(covered) / len(covered) <= 0.98


def test_deals_with_the_same_cards_count_for_less_than_fresh_ones() -> None:
    def mean_error(rotations: int) -> float:
        columns, rater = Columns(6), OrderFreeRater(Model(), 6)
        for one in played(STRENGTHS, 3, 240 // rotations, seed=4, rotations=rotations):
            columns.add(one)
            rater.add(one)
        return float(np.sqrt(np.diag(covariance(rater.fit(), columns.group_of_deal))).mean())

    assert mean_error(4) > 1.3 * mean_error(1)


def test_more_rounds_narrow_every_interval() -> None:
    _, short = analyse(NAMES, played(STRENGTHS, 3, 10, seed=1))
    _, long = analyse(NAMES, played(STRENGTHS, 3, 160, seed=1))
    for before, after in zip(short.entrants, long.entrants, strict=True):
        for kind in ("rating", "mean_place", "mean_points"):
            wide, narrow = getattr(before, kind), getattr(after, kind)
            assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)


def test_the_probability_of_being_above_goes_with_the_ratings() -> None:
    table, analysis = analyse(NAMES, played([4, 2, 0, 0, -2, -4], 3, 20, seed=1))
    assert table.entrants[0].name == "ada"
    assert analysis.above[0][5] > 0.999
    assert analysis.above[5][0] < 0.001
    for one in range(6):
        assert analysis.above[one][one] == 0.5
        for other in range(6):
            assert analysis.above[one][other] + analysis.above[other][one] == pytest.approx(1)


def test_meetings_and_seats_are_counted_by_hand() -> None:
    deals = [
        deal([0, 1, 2], [1, 2, 3], (0, 0, 0)),
        deal([2, 0, 1], [2, 1, 2], (0, 0, 1)),
        deal([3, 1, 0], [1, 2, 3], (0, 1, 0)),
    ]
    _, analysis = analyse(NAMES[:4], deals)
    assert analysis.groups == 2
    assert analysis.met[0] == (0, 3, 2, 1)
    assert analysis.ahead[0] == (0, 2, 2, 0)
    assert analysis.ahead[1] == (1, 0, 1.5, 0)
    assert analysis.ahead[2] == (0, 0.5, 0, 0)
    first, second, third = analysis.entrants[0].seats
    assert (first.deals, first.mean_place, first.mean_points) == (1, 1, 2)
    assert (second.deals, second.mean_place) == (1, 1)
    assert (third.deals, third.mean_place) == (1, 3)
    assert analysis.entrants[3].seats == (analysis.entrants[3].seats[0],)


def test_tied_mean_places_share_a_rank() -> None:
    assert ranks(np.array([[2.0, 1.0, 2.0, 3.0]])).tolist() == [[2, 1, 2, 4]]


def test_a_schedule_too_short_to_tell_neighbours_apart_says_how_many_more_rounds() -> None:
    _, analysis = analyse(NAMES, played(STRENGTHS, 3, 20, seed=3))
    assert analysis.too_close
    for pair in analysis.too_close:
        assert pair.difference.low <= 0 <= pair.difference.high
        assert pair.more_rounds is None or pair.more_rounds > 0
    assert "more rounds" in str(analysis.warning())


def test_the_rounds_it_asks_for_are_about_enough() -> None:
    strengths = [0.15, 0.0]
    _, short = analyse(NAMES[:2], played(strengths, 2, 40, seed=3))
    (pair,) = short.too_close
    assert pair.more_rounds is not None
    _, long = analyse(NAMES[:2], played(strengths, 2, 40 + 3 * pair.more_rounds, seed=3))
    assert not long.too_close
    assert long.warning() is None


def test_the_same_deals_and_seed_give_the_same_intervals() -> None:
    deals = list(played(STRENGTHS, 3, 8, seed=1))
    assert analyse(NAMES, deals, seed=7) == analyse(NAMES, deals, seed=7)
    assert analyse(NAMES, deals, seed=7) != analyse(NAMES, deals, seed=8)


def test_before_the_first_deal_there_is_nothing_to_say() -> None:
    table, analysis = analyse(NAMES, [])
    assert table.deals == 0
    assert analysis.warning() is None
    assert analysis.entrants[0].mean_place is None
    assert analysis.entrants[0].rating.low == pytest.approx(25 - 1.96 * 25 / 3, abs=0.01)


@pytest.mark.parametrize("update", ["sequential", "order_free"])
def test_an_entrant_that_never_played_leaves_the_others_alone(update: str) -> None:
    deals = list(played(STRENGTHS[:3], 3, 5, seed=1))
    _, analysis = analyse(NAMES[:4], deals, update=update)  # type: ignore[arg-type]
    assert analysis.entrants[3].rank is None
    assert analysis.entrants[0].rank is not None
    assert all(1 <= bound <= 3 for row in analysis.entrants[:3] for bound in row.rank or ())
