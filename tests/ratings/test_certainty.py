"""Tests of the claims that the table makes about the order of the bots."""

from __future__ import annotations

from itertools import combinations
from math import erfc, sqrt

import numpy as np
import pytest
from simulation import deal, played
from tourney_runner.ratings import order_free
from tourney_runner.ratings.certainty import best_probabilities, rank_ranges, t_quantile
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.standings import Scoreboard, standings

NAMES = [f"bot {number}" for number in range(6)]
TRIALS = [30, pytest.param(1000, marks=pytest.mark.slow)]


def by_quadrature(mu: list[float], sigma: list[float]) -> list[float]:
    """The probability to be the best of independent normal ratings."""
    x = np.linspace(-9, 9, 3001)
    density = np.exp(-x * x / 2) / sqrt(2 * np.pi)
    found = []
    for one, own in enumerate(mu):
        product = density.copy()
        for other, mean in enumerate(mu):
            if other != one:
                z = (own + sigma[one] * x - mean) / sigma[other]
                product *= [0.5 * erfc(-value / sqrt(2)) for value in z]
        found.append(float(product.sum() * (x[1] - x[0])))
    return found


@pytest.mark.parametrize("bots", [2, 3, 6, 20])
def test_the_probability_to_be_the_best_is_right_to_half_a_percent(bots: int) -> None:
    random = np.random.RandomState(bots)
    mu, sigma = random.normal(0, 1, bots).tolist(), random.uniform(0.3, 1.5, bots).tolist()
    found = best_probabilities(mu, np.diag(np.square(sigma)))
    assert sum(found) == pytest.approx(1)
    assert found == pytest.approx(by_quadrature(mu, sigma), abs=0.006)
    shared = np.diag(np.square(sigma)) - 0.01  # an error that all bots share changes nothing
    assert best_probabilities(mu, shared) == pytest.approx(found, abs=0.006)


@pytest.mark.parametrize(("freedom", "expected"), [(9, 2.2622), (29, 2.0452), (1e6, 1.96)])
def test_few_matches_widen_intervals_as_student_says(freedom: float, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, rel=2e-3)


def test_rank_ranges_by_hand() -> None:
    sure, unsure = 4.0, 1.0
    scores = np.array([[0, unsure, sure], [-unsure, 0, sure], [-sure, -sure, 0]])
    assert rank_ranges(scores) == [(1, 2), (1, 2), (3, 3)]
    assert rank_ranges(np.zeros((3, 3))) == [(1, 3)] * 3
    assert rank_ranges(np.zeros((1, 1))) == [(1, 1)]
    assert rank_ranges(np.zeros((0, 0))) == []


def test_holm_asks_more_of_many_pairs() -> None:
    scores = np.zeros((8, 8))
    scores[0, 1], scores[1, 0] = 2.5, -2.5
    assert rank_ranges(scores)[0] == (1, 8)
    assert rank_ranges(scores[:2, :2])[0] == (1, 1)


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("rotations", [1, 3])
def test_equal_bots_are_seldom_told_apart(trials: int, rotations: int) -> None:
    claims = tables = excluded = 0
    for seed in range(trials):
        table = standings(NAMES, played([0.0] * 6, 3, 12 // rotations, seed, rotations=rotations))
        ranges = [row.rank_range for row in table.entrants if row.rank_range is not None]
        tables += any(found != (1, 6) for found in ranges)
        excluded += sum(low > 1 for low, _ in ranges)
        rows = list(table.superiority)
        claims += sum(rows[a][b] > 0.975 for a, b in combinations(range(6), 2))
    assert tables <= 0.06 * trials + 2 * sqrt(0.06 * trials)
    assert excluded <= 0.05 * 6 * trials
    assert claims <= 15 * (0.03 * trials + 2 * sqrt(0.03 * trials))


def test_a_late_bot_is_provisional_until_it_has_played_enough() -> None:
    deals = list(played([0.0, 0.0, 0.0, 0.0, 3.0], 3, 10, seed=2))
    late = [one for one in deals if 4 not in one.seating or one.key[0] >= 8]
    table = standings(NAMES[:5], late)
    last = table.entrants[-1]
    assert (last.name, last.status, last.rank) == ("bot 4", "provisional", 5)
    assert last.mu > table.entrants[0].mu
    assert last.interval is None
    assert last.best is None
    assert all(row.status == "ranked" for row in table.entrants[:-1])
    by_score = standings(NAMES[:5], late, rank_by="score")
    assert {row.name: row.status for row in by_score.entrants}["bot 4"] == "provisional"
    assert [row.score for row in by_score.entrants] == sorted(
        (row.score for row in by_score.entrants), reverse=True
    )


def test_nobody_is_provisional_where_all_have_played_little() -> None:
    table = standings(NAMES[:3], [deal([0, 1, 2], [1, 2, 3])])
    assert table.too_little_data
    assert {row.status for row in table.entrants} == {"ranked"}
    assert [row.rank for row in table.entrants] == [1, 2, 3]
    assert not table.too_close
    assert standings(["zoe", "ann"], []).too_little_data


def test_a_reference_has_a_range_and_no_rank_among_the_others() -> None:
    strengths = [3.0, 1.0, 0.0, -1.0]
    table = standings(NAMES[:4], played(strengths, 3, 20, seed=3), references=[1])
    rows = {row.name: row for row in table.entrants}
    assert [row.name for row in table.entrants] == NAMES[:4]
    assert rows["bot 1"].status == "reference"
    assert rows["bot 1"].rank_range == (2, 2)
    assert rows["bot 1"].best is None
    assert [rows[name].rank for name in ("bot 0", "bot 2", "bot 3")] == [1, 2, 3]
    assert sum(row.best or 0 for row in table.entrants) == pytest.approx(1)


def test_a_disqualified_bot_is_last_without_claims() -> None:
    deals = [one for one in played([0.0, 1.0, 2.0, 9.0], 2, 12, seed=3) if 3 not in one.seating]
    table = standings(NAMES[:4], deals, disqualified=[3])
    assert [(row.rank, row.name) for row in table.entrants][-1] == (4, "bot 3")
    last = table.entrants[-1]
    assert (last.status, last.interval, last.rank_range, last.best) == (
        "disqualified", None, None, None,
    )  # fmt: skip
    assert all(row.rank_range is not None for row in table.entrants[:-1])


def test_an_average_bot_finishes_ahead_of_itself_in_half_of_the_deals() -> None:
    table = standings(NAMES[:3], played([1.0, 0.0, -1.0], 3, 60, seed=4), Model(beta=1))
    shares = [row.ahead_of_average for row in table.entrants]
    assert shares[1] == pytest.approx(0.5, abs=0.06)
    assert shares[0] == pytest.approx(1 - shares[2], abs=0.06)
    assert shares[0] > 0.7


def test_the_rounds_it_asks_for_are_about_enough() -> None:
    short = standings(NAMES[:2], played([0.15, 0.0], 2, 40, seed=3))
    (pair,) = short.too_close
    assert pair.more_rounds is not None
    long = standings(NAMES[:2], played([0.15, 0.0], 2, 40 + 3 * pair.more_rounds, seed=3))
    assert not long.too_close


def test_a_chain_of_bots_that_meet_only_their_neighbours_converges() -> None:
    names = [f"bot {number}" for number in range(100)]
    deals = [
        deal([link, link + 1], [1, 2] if number % 2 else [2, 1], (number, link, 0))
        for number in range(20)
        for link in range(99)
    ]
    assert standings(names, deals[:-1]).converged


def test_a_fit_that_ends_too_early_says_that_it_did_not_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order_free, "_SWEEPS", 5)
    assert not standings(NAMES, played([0.0] * 6, 3, 12, seed=1)).converged


def test_the_table_can_be_asked_for_at_any_time() -> None:
    board = Scoreboard(NAMES)
    for one in played([0.0] * 6, 3, 4, seed=1):
        board.add(one)
        board.standings()
