"""Ratings of bots whose skills drift."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
import trueskillthroughtime
from simulation import deal
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.order_free import fit
from tourney_runner.ratings.standings import standings
from tourney_runner.ratings.through_time import fit_through_time

BOTS = 5
MODEL = Model(tau=0.3)


def drifting(rounds: int, tables: int, seed: int) -> tuple[list[list[int]], list[int], list[float]]:
    """Finishing orders of three players, their rounds, and the skills in the last round."""
    random = Random(seed)
    skills = [random.gauss(25, 4) for _ in range(BOTS)]
    rows, numbers = [], []
    for number in range(rounds):
        skills = [skill + random.gauss(0, MODEL.tau) for skill in skills]
        for _ in range(tables):
            seats = random.sample(range(BOTS), 3)
            played = {bot: random.gauss(skills[bot], MODEL.beta) for bot in seats}
            rows.append(sorted(seats, key=lambda bot: -played[bot]))
            numbers.append(number)
    return rows, numbers, skills


FIXED = json.loads(Path(__file__).with_name("through_time.json").read_text())


def test_ratings_are_those_of_the_package_trueskillthroughtime() -> None:
    rows = FIXED["rows"]
    rounds = np.arange(len(rows)) // 15
    model = Model(tau=0.3)
    found = fit_through_time(model, 20, {3: np.array(rows)}, {3: rounds})
    assert found.converged
    for bot, (mu, sigma) in enumerate(FIXED["ratings"]):
        assert abs(found.mu[bot] - mu) < 0.001 * sigma
        assert found.sigma[bot] == pytest.approx(sigma, rel=1e-5)


@pytest.mark.slow
def test_the_package_trueskillthroughtime_gives_the_same_today() -> None:
    rows, rounds, _ = drifting(5, 6, seed=2)
    found = fit_through_time(MODEL, BOTS, {3: np.array(rows)}, {3: np.array(rounds)})
    history = trueskillthroughtime.History(
        composition=[[[str(bot)] for bot in row] for row in rows],
        times=[number + 1 for number in rounds],
        mu=MODEL.mu,
        sigma=MODEL.sigma,
        beta=MODEL.beta,
        gamma=MODEL.tau,
        p_draw=MODEL.draw_probability,
    )
    history.convergence(epsilon=1e-7, iterations=150, verbose=False)
    curves = history.learning_curves()
    for bot in range(BOTS):
        expected = curves[str(bot)][-1][1]
        assert abs(found.mu[bot] - expected.mu) < 0.01 * expected.sigma
        assert found.sigma[bot] == pytest.approx(expected.sigma, rel=1e-3)


def test_without_drift_ratings_are_the_order_free_ones() -> None:
    rows, rounds, _ = drifting(6, 10, seed=3)
    timed = fit_through_time(Model(), BOTS, {3: np.array(rows)}, {3: np.array(rounds)})
    plain = fit(Model(), BOTS, {3: np.array(rows)})
    assert timed.mu == pytest.approx(plain.mu, abs=1e-3)
    assert timed.sigma == pytest.approx(plain.sigma, abs=1e-3)


def test_intervals_cover_the_skills_of_the_last_round() -> None:
    covered = []
    for seed in range(25):
        rows, rounds, skills = drifting(20, 10, seed)
        found = fit_through_time(MODEL, BOTS, {3: np.array(rows)}, {3: np.array(rounds)})
        errors = found.mu - found.mu.mean() - (np.array(skills) - np.mean(skills))
        covered += (np.abs(errors) <= 1.96 * found.sigma).tolist()
    assert 0.90 <= sum(covered) / len(covered) <= 0.995


def test_a_bot_that_became_better_is_rated_by_what_it_is_now() -> None:
    deals = [
        deal([0, 1], [2, 1] if number < 30 else [1, 2], (number, 0, 0)) for number in range(60)
    ]
    names = ["improved", "faded"]
    drifts = standings(names, deals, Model(tau=1.0), "through_time")
    fixed = standings(names, deals, Model())
    assert drifts.entrants[0].name == "improved"
    assert drifts.entrants[0].mu - drifts.entrants[1].mu > 3
    assert fixed.entrants[0].mu - fixed.entrants[1].mu < 0.5
    assert drifts.converged


def test_a_bot_that_never_played_keeps_the_prior() -> None:
    table = standings(["a", "b", "c"], [deal([0, 1], [1, 2])], Model(tau=0.1), "through_time")
    rows = {row.name: row for row in table.entrants}
    assert (rows["c"].mu, rows["c"].sigma) == pytest.approx((25, 25 / 3))
