"""The estimate of a duration, and what a plan knows of stored deals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tourney_runner.run.planner import Sizes
from tourney_runner.run.preview import Pace, Work, duration, estimate

if TYPE_CHECKING:
    from whole_program import Arena

WORK = Work(matches=400, blocks=Sizes(10), rounds=10, rotations=4, bots=10, players=4)


def test_the_ends_of_the_range_are_at_most_a_factor_of_three_apart() -> None:
    low, high = estimate(Pace(0.5, 0.1), WORK, 2)
    assert 0 < low < high <= 3 * low


def test_more_work_and_fewer_workers_take_longer() -> None:
    pace = Pace(0.5, 0.1)
    one, two = estimate(pace, WORK, 1), estimate(pace, WORK, 2)
    assert two < one
    assert estimate(pace, WORK._replace(matches=800, rounds=20), 1) > one
    assert estimate(Pace(0.5, 1.0), WORK, 1) > one


def test_workers_that_share_all_rotations_renew_no_bots() -> None:
    slow_start = Pace(0.0, 1.0)
    few, many = estimate(slow_start, WORK, 2), estimate(slow_start, WORK, 4)
    assert many[0] * 4 < few[0] * 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (600, "10 min"), (3 * 3600, "3.0 h"), (210_000, "2.4 days")],
)
def test_durations_have_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_plan_knows_what_is_stored(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three", "four")]
    config = arena.configure(bots, schedule={"rounds": 1}, match={"duplicate": 1})
    before = arena.run("plan", config, "--out", "out").stdout
    assert "duration: " in before
    assert "80 % range" in before
    arena.run("run", config, "--out", "out")
    after = arena.run("plan", config, "--out", "out").stdout
    assert f"stored: {arena.deals('out')} deals in out" in after
    assert "duration: none; everything is played" in after
