from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation import deal, played
from tourney_runner.ratings.model import Model, Rating
from tourney_runner.ratings.order_free import fit
from tourney_runner.ratings.raters import rater
from tourney_runner.ratings.sequential import rate
from tourney_runner.ratings.standings import standings

FIXED = json.loads(Path(__file__).with_name("order_free.json").read_text())


def test_ratings_are_those_of_trueskill_through_time_without_time() -> None:
    rows: dict[int, list[list[int]]] = {}
    for row in FIXED["rows"]:
        rows.setdefault(len(row), []).append(row)
    tables = {players: np.array(table) for players, table in rows.items()}
    found = fit(Model(draw_probability=FIXED["draw_probability"]), 6, tables).ratings()
    for rating, expected in zip(found, FIXED["ratings"], strict=True):
        assert rating == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("places", [[1, 2], [2, 1], [1, 1], [2, 3, 1], [1, 2, 2, 4], [4, 1, 3, 2]])
def test_one_deal_is_rated_as_in_one_pass(places: list[int]) -> None:
    model = Model(draw_probability=0.1)
    one = deal(range(len(places)), places)
    fitted = rater("order_free", model, len(places))
    passed = rater("sequential", model, len(places))
    fitted.add(one, 0)
    passed.add(one, 0)
    # The pass stops sweeping a little before the chain stands still.
    for rating, expected in zip(fitted.ratings(), passed.ratings(), strict=True):
        assert rating == pytest.approx(expected, abs=2e-3)


def test_deals_of_strangers_are_rated_as_in_one_pass() -> None:
    model = Model()
    deals = [deal([0, 1], [1, 2]), deal([2, 3], [2, 1]), deal([5, 4], [1, 2])]
    fitted = rater("order_free", model, 6)
    for match, one in enumerate(deals):
        fitted.add(one, match)
    winner, loser = rate(model, [model.start] * 2, [1, 2])
    expected = [winner, loser, loser, winner, loser, winner]
    for rating, pair in zip(fitted.ratings(), expected, strict=True):
        assert rating == pytest.approx(pair, abs=1e-7)


def test_fifty_orders_of_the_same_deals_give_one_table() -> None:
    names = [f"bot {number}" for number in range(8)]
    strengths = [0.1 * number for number in range(8)]
    deals = list(played(strengths, 4, 8, seed=2, tie_share=0.1))
    table = standings(names, deals, update="order_free")
    random = Random(1)
    for _ in range(50):
        random.shuffle(deals)
        assert standings(names, deals, update="order_free") == table


@pytest.mark.parametrize("entrants", [4, 7])
def test_bots_whose_deals_came_out_alike_share_a_rank(entrants: int) -> None:
    names = [f"bot {number}" for number in reversed(range(entrants))]
    deals = [
        deal([(first + step) % entrants for step in (0, 1, 3)], [1, 2, 3], (0, first, 0))
        for first in range(entrants)
    ]
    table = standings(names, deals, update="order_free")
    assert {row.rank for row in table.entrants} == {1}
    assert [row.name for row in table.entrants] == sorted(names)


def test_better_bots_rank_higher() -> None:
    names = ["ada", "bob", "cyd", "dan", "eve"]
    table = standings(names, played([0, 2, 1, 4, 3], 4, 20, seed=1), update="order_free")
    assert [row.name for row in table.entrants] == ["dan", "eve", "bob", "cyd", "ada"]


def test_the_mean_rating_of_connected_bots_stays_the_priors() -> None:
    fitted = rater("order_free", Model(), 7)
    for one in played([0, 1, 2, 3, 4, 5], 4, 10, seed=8):
        fitted.add(one, one.key.match)
    ratings = fitted.ratings()
    assert sum(rating.mu for rating in ratings[:6]) / 6 == pytest.approx(25, abs=1e-7)
    assert ratings[6] == pytest.approx(Model().start)


def test_without_deals_everybody_keeps_the_prior() -> None:
    for rating in rater("order_free", Model(), 3).ratings():
        assert rating == pytest.approx(Rating(25, 25 / 3))


outcomes = st.integers(2, 5).flatmap(
    lambda players: st.tuples(
        st.permutations(range(6)).map(lambda drawn: drawn[:players]),
        st.lists(st.integers(1, players), min_size=players, max_size=players),
    )
)


@settings(max_examples=25)
@given(
    table=st.lists(outcomes, min_size=1, max_size=12),
    copies=st.sampled_from([1, 100]),
    draw=st.sampled_from([1e-9, 1e-3, 0.9]),
)
def test_any_results_can_be_fitted_and_nobody_becomes_less_certain(
    table: list[tuple[list[int], list[int]]], copies: int, draw: float
) -> None:
    model = Model(draw_probability=draw)
    fitted = rater("order_free", model, 6)
    for seating, places in table * copies:
        fitted.add(deal(seating, places), 0)
    for rating in fitted.ratings():
        assert isfinite(rating.mu)
        assert 0 < rating.sigma <= model.sigma * (1 + 1e-9)
