from __future__ import annotations

from math import sqrt
from random import Random
from statistics import NormalDist

import pytest
from simulation import deal, played
from tourney_runner.ratings.analysis import analyse, percentiles, resample
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.order_free import Columns
from tourney_runner.ratings.standings import Scoreboard, standings
from tourney_runner.ratings.table import Anchor

NAMES = ["ada", "bob", "cyd", "dan", "eve", "fay"]
STRENGTHS = [0.5, 0.3, 0.1, -0.1, -0.3, -0.5]
TRIALS = [25, pytest.param(600, marks=pytest.mark.slow)]


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


@pytest.mark.parametrize(("rotations", "duplicate"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("trials", TRIALS)
def test_rating_intervals_cover_the_truth_as_often_as_they_say(
    trials: int, rotations: int, *, duplicate: bool
) -> None:
    model = Model(mu=0, sigma=4, beta=1)
    covered = []
    for seed in range(trials):
        deals = played(
            STRENGTHS, 3, 30 // rotations, seed, rotations=rotations, duplicate=duplicate
        )
        table = standings(NAMES, deals, model)
        for row in table.entrants:
            assert row.interval is not None
            covered.append(
                row.interval.low <= STRENGTHS[NAMES.index(row.name)] <= row.interval.high
            )
    assert 0.90 <= sum(covered) / len(covered) <= 0.985


@pytest.mark.parametrize("trials", TRIALS)
def test_intervals_relative_to_an_anchor_cover_the_true_differences(trials: int) -> None:
    """Tables of different seasons are compared by them, whose fields differ."""
    model = Model(mu=0, sigma=4, beta=1)
    covered = []
    for seed in range(trials):
        table = standings(
            NAMES, played(STRENGTHS, 3, 30, seed, rotations=1), model, anchor=Anchor("cyd", 9.0)
        )
        for row in table.entrants:
            assert row.interval is not None
            if row.name != "cyd":
                truth = 9.0 + STRENGTHS[NAMES.index(row.name)] - STRENGTHS[NAMES.index("cyd")]
                covered.append(row.interval.low <= truth <= row.interval.high)
    assert 0.90 <= sum(covered) / len(covered) <= 0.985


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("trials", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_intervals_also_hold_where_bots_are_far_apart(trials: int, *, duplicate: bool) -> None:
    names = [f"bot {number:02}" for number in range(12)]
    rotations = 4 if duplicate else 1
    covered = []
    for seed in range(trials):
        random = Random(seed)
        drawn = [random.gauss(0, 2) for _ in names]
        truth = dict(zip(names, (one - sum(drawn) / 12 for one in drawn), strict=True))
        deals = played(drawn, 4, 40 // rotations, seed, rotations=rotations, duplicate=duplicate)
        for row in standings(names, deals, Model(mu=0, sigma=2, beta=1)).entrants:
            assert row.interval is not None
            covered.append(row.interval.low <= truth[row.name] <= row.interval.high)
    share = sum(covered) / len(covered)
    assert (0.93 if trials > 100 else 0.9) <= share <= 0.985 + 0.01 * (trials < 100)


def mean_width(rotations: int, *, duplicate: bool = False) -> float:
    deals = played(STRENGTHS, 3, 240 // rotations, 4, rotations=rotations, duplicate=duplicate)
    table = standings(NAMES, deals)
    return sum(row.interval.high - row.interval.low for row in table.entrants if row.interval)


def test_deals_with_the_same_cards_count_for_less_than_fresh_ones() -> None:
    assert mean_width(4) > 1.3 * mean_width(1)


def test_duplicate_deals_narrow_the_intervals() -> None:
    assert mean_width(3, duplicate=True) < 0.9 * mean_width(1)


def test_a_bot_that_wins_all_matches_is_not_known_exactly() -> None:
    best = standings(NAMES[:2], played([9.0, 0.0], 2, 60, seed=2)).entrants[0]
    assert best.interval is not None
    assert best.interval.high - best.interval.low > 1.5 * best.sigma


@pytest.mark.parametrize("players", [3, 4])
def test_a_bot_that_wins_all_deals_of_several_is_known_no_better_than_its_sigma(
    players: int,
) -> None:
    best = standings(NAMES, played([9.0, 0, 0, 0, 0, 0], players, 30, seed=2)).entrants[0]
    assert best.interval is not None
    assert best.interval.high - best.interval.low > 3 * best.sigma


def test_more_rounds_narrow_every_interval() -> None:
    few, short = analyse(Scoreboard(NAMES), played(STRENGTHS, 3, 10, seed=1))
    many, long = analyse(Scoreboard(NAMES), played(STRENGTHS, 3, 160, seed=1))
    for before, after in zip(short.entrants, long.entrants, strict=True):
        for kind in ("mean_place", "mean_points"):
            wide, narrow = getattr(before, kind), getattr(after, kind)
            assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)
    widths = [
        sum(row.interval.high - row.interval.low for row in table.entrants if row.interval)
        for table in (few, many)
    ]
    assert widths[1] < 0.5 * widths[0]


def test_meetings_and_seats_are_counted_by_hand() -> None:
    deals = [
        deal([0, 1, 2], [1, 2, 3], (0, 0, 0)),
        deal([2, 0, 1], [2, 1, 2], (0, 0, 1)),
        deal([3, 1, 0], [1, 2, 3], (0, 1, 0)),
    ]
    table, analysis = analyse(Scoreboard(NAMES[:4]), deals)
    assert table.matches == 2
    assert {row.name: row.matches for row in table.entrants} == {
        "ada": 2, "bob": 2, "cyd": 1, "dan": 1,
    }  # fmt: skip
    assert analysis.met[0] == (0, 3, 2, 1)
    assert analysis.ahead[0] == (0, 2, 2, 0)
    assert analysis.ahead[1] == (1, 0, 1.5, 0)
    assert analysis.ahead[2] == (0, 0.5, 0, 0)
    first, second, third = analysis.entrants[0].seats
    assert (first.deals, first.mean_place, first.mean_points) == (1, 1, 2)
    assert (second.deals, second.mean_place) == (1, 1)
    assert (third.deals, third.mean_place) == (1, 3)
    assert analysis.entrants[3].seats == (analysis.entrants[3].seats[0],)


def test_the_same_deals_and_seed_give_the_same_intervals() -> None:
    deals = list(played(STRENGTHS, 3, 8, seed=1))
    first = analyse(Scoreboard(NAMES), deals, seed=7)
    assert first == analyse(Scoreboard(NAMES), deals, seed=7)
    assert first[1] != analyse(Scoreboard(NAMES), deals, seed=8)[1]
