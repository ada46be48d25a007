from __future__ import annotations

import math
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation import deal
from tourney_runner.ratings.model import Model, Rating, finishing_order
from tourney_runner.ratings.sequential import (
    Checkpoints,
    SequentialRater,
    rate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tourney_runner.results.records import DealRecord


def package_rate(
    model: Model, ratings: list[Rating], places: list[int], tie_seed: int
) -> list[Rating]:
    """The same deal by the package's own functions, with an exact backend."""
    environment = trueskill.TrueSkill(
        mu=model.mu,
        sigma=model.sigma,
        beta=model.beta,
        tau=model.tau,
        draw_probability=model.draw_probability,
        backend=(
            lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
            lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
            NormalDist().inv_cdf,
        ),
    )
    order = finishing_order(places, tie_seed)
    groups = [(trueskill.Rating(*ratings[player]),) for player in order]
    rated = environment.rate(groups, ranks=[places[player] for player in order])
    by_player = dict(zip(order, rated, strict=True))
    return [Rating(by_player[player][0].mu, by_player[player][0].sigma) for player in sorted(order)]


def farthest(one: list[Rating], other: list[Rating]) -> float:
    return max(
        abs(a - b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


def random_deal(random: Random) -> tuple[Model, list[Rating], list[int]]:
    model = Model(
        draw_probability=random.choice([0.001, 0.002, 0.05, 0.1, 0.4]),
        tau=random.choice([0.0, 0.0, 25 / 300]),
    )
    players = random.randint(2, 14)
    ratings = [Rating(random.gauss(25, 6), random.uniform(0.8, 25 / 3)) for _ in range(players)]
    drawn = [random.randint(1, players) for _ in range(players)]
    places = drawn if random.random() < 0.5 else random.sample(range(1, players + 1), players)
    return model, ratings, places


@pytest.mark.parametrize("deals", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_ratings_are_those_of_the_packages_own_functions(deals: int) -> None:
    random = Random(20261129)
    for number in range(deals):
        model, ratings, places = random_deal(random)
        ours = rate(model, ratings, places, number)
        theirs = package_rate(model, ratings, places, number)
        assert farthest(ours, theirs) < 1e-9, (model, ratings, places)


beliefs = st.builds(Rating, st.floats(-1e4, 1e4), st.floats(1e-3, 1e3))
tables = st.lists(st.tuples(beliefs, st.integers(1, 5)), min_size=2, max_size=14)


@given(table=tables, draw=st.sampled_from([1e-12, 1e-3, 0.5, 0.999]), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_no_deal_raises_or_makes_anybody_less_certain(
    table: list[tuple[Rating, int]], draw: float, seed: int
) -> None:
    before = [rating for rating, _ in table]
    after = rate(Model(draw_probability=draw), before, [place for _, place in table], seed)
    for old, new in zip(before, after, strict=True):
        assert math.isfinite(new.mu)
        assert 0 < new.sigma <= old.sigma * (1 + 1e-9)


EXTREME = [
    pytest.param([(0, 1), (400, 1)], [1, 2], id="a hopeless bot wins"),
    pytest.param([(400, 1), (0, 1)], [1, 2], id="the favourite wins"),
    pytest.param([(400, 1), (0, 1)], [1, 1], id="a hopeless bot ties"),
    pytest.param([(1600, 500), (0, 500)], [2, 1], id="a scale of 1600"),
    pytest.param([(1e6, 1e-3), (-1e6, 1e-3), (0, 1e4)], [3, 1, 2], id="absurd beliefs"),
    pytest.param([(25, 8), (25, 8), (25, 8), (25, 8)], [1, 1, 1, 1], id="everybody ties"),
]


@pytest.mark.parametrize(("before", "places"), EXTREME)
@pytest.mark.parametrize("draw", [1e-9, 0.001, 0.2])
def test_extreme_deals_are_rated(
    before: list[tuple[float, float]], places: list[int], draw: float
) -> None:
    after = rate(Model(draw_probability=draw), [Rating(*b) for b in before], places)
    for (_, old), new in zip(before, after, strict=True):
        assert math.isfinite(new.mu)
        assert 0 < new.sigma <= old * (1 + 1e-9)


@given(
    sigma=st.floats(-9, 9), beta=st.floats(-9, 9), places=st.lists(st.integers(1, 3), min_size=2)
)
@settings(max_examples=30)
def test_no_constants_raise(sigma: float, beta: float, places: list[int]) -> None:
    model = Model(mu=0, sigma=10**sigma, beta=10**beta)
    for rating in rate(model, [model.start] * len(places), places):
        assert math.isfinite(rating.mu)
        assert 0 < rating.sigma <= model.sigma * (1 + 1e-9)


def test_a_winner_gains_and_a_loser_loses() -> None:
    model = Model()
    first, second, third = rate(model, [model.start] * 3, [1, 2, 3])
    assert first.mu > second.mu > third.mu
    assert first.mu > 25 > third.mu


def test_an_upset_moves_more_than_an_expected_win() -> None:
    model = Model()
    strong, weak = Rating(35, 4), Rating(15, 4)
    expected = rate(model, [strong, weak], [1, 2])[0].mu - strong.mu
    upset = rate(model, [strong, weak], [2, 1])[1].mu - weak.mu
    assert upset > 10 * expected > 0


def test_tau_keeps_beliefs_open() -> None:
    before = [Rating(25, 0.1), Rating(25, 0.1)]
    assert rate(Model(tau=1.0), before, [1, 2])[0].sigma > 0.5
    assert rate(Model(tau=0.0), before, [1, 2])[0].sigma < 0.1


def test_tied_bots_stand_in_an_order_drawn_by_the_seed() -> None:
    orders = {tuple(finishing_order([1, 2, 2, 2, 5], seed)) for seed in range(60)}
    assert len(orders) == 6
    assert all(order[0] == 0 and order[-1] == 4 for order in orders)
    assert finishing_order([3, 1, 1], 7) == finishing_order([3, 1, 1], 7)


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("draw_probability", 0.0),
        ("draw_probability", 1.0),
        ("draw_probability", -0.1),
        ("draw_probability", 1e-20),
        ("draw_probability", math.nan),
        ("sigma", 0.0),
        ("sigma", math.inf),
        ("beta", -1.0),
        ("tau", -0.1),
        ("mu", math.nan),
    ],
)
def test_impossible_constants_are_refused_by_name(constant: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{constant} is"):
        Model(**{constant: value})


def two_bots(count: int, upset: int | None = None) -> Iterator[DealRecord]:
    """Deals that the first bot wins, but for one."""
    for number in range(count):
        yield deal([0, 1], [2, 1] if number == upset else [1, 2], (number, 0, 0))


def after(deals: Iterator[DealRecord], folder: Path | None) -> list[Rating]:
    rater = SequentialRater(Model(), 2, None if folder is None else Checkpoints(folder, EVERY))
    for match, one in enumerate(deals):
        rater.add(one, match)
    return rater.ratings()


EVERY = 100
LONG = EVERY + 5


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Rating]]:
    """A folder with one checkpoint, and the ratings of the deals that led to it and five more."""
    folder = tmp_path_factory.mktemp("ratings")
    return folder, after(two_bots(LONG), folder)


def test_ratings_continue_from_a_checkpoint_to_the_same_numbers(
    kept: tuple[Path, list[Rating]], tmp_path: Path
) -> None:
    folder, ratings = kept
    assert after(two_bots(LONG), folder) == ratings
    # A checkpoint with other ratings shows that it is used.
    (file,) = folder.iterdir()
    Checkpoints(tmp_path).keep(file.stem, [Rating(0.0, 1.0), Rating(50.0, 1.0)])
    first, second = after(two_bots(LONG), tmp_path)
    assert first.mu < 10
    assert second.mu > 40


@pytest.mark.parametrize("harm", ["", "{}", '{"ratings":[[1.0,1.0],[2.0,1.0]],"check":""}'])
def test_a_damaged_checkpoint_is_not_used(
    kept: tuple[Path, list[Rating]], tmp_path: Path, harm: str
) -> None:
    folder, ratings = kept
    (file,) = folder.iterdir()
    (tmp_path / file.name).write_text(harm)
    assert after(two_bots(LONG), tmp_path) == ratings
    assert (tmp_path / file.name).read_text() == file.read_text()


def test_a_checkpoint_is_not_used_once_a_deal_before_it_has_changed(
    kept: tuple[Path, list[Rating]],
) -> None:
    folder, ratings = kept
    changed = after(two_bots(LONG, upset=3), folder)
    assert changed != ratings
    assert len(list(folder.iterdir())) == 2
    assert after(two_bots(LONG), folder) == ratings
