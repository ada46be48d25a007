"""Tournaments are planned in blocks of bounded size, whatever the size of a round."""

from __future__ import annotations

from contextlib import closing
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from tourney_runner.results.store import Store
from tourney_runner.run.lanes import Lanes
from tourney_runner.run.planner import Planner, Sizes, blocks, rounds_in
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import Field
from tourney_runner.schedule.round_robin import RoundRobinOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.run.planner import Block

MOST = 2048
"""Matches of one block."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "results.sqlite", create=True)) as store:
        yield store


def _planner(store: Store, entrants: int, rounds: int = 2, duplicate: int = 2) -> Planner:
    names = tuple(map(str, range(entrants)))
    field = Field(entrants=entrants, players=4, seed=1, names=names)
    options = RoundRobinOptions(rounds=rounds, complete=True)
    return Planner(formats.make("round-robin", field, options), store, duplicate)


def _matches(blocks: list[Block]) -> list[MatchPlan]:
    return [match for block in blocks for wave in block.waves for match in wave]


def test_a_large_round_is_planned_in_parts_that_are_all_of_it(store: Store) -> None:
    planner = _planner(store, 22)  # 7,315 matches a round, in 4 parts
    found = list(planner.blocks())
    assert len(found) == 8
    assert [block.span.ends for block in found] == [False, False, False, True] * 2
    assert all(len(wave) <= MOST for block in found for wave in block.waves)
    keys = [(match.round, match.match, match.rotation) for match in _matches(found)]
    assert len(keys) == len(set(keys)) == planner.total()


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 7])
def test_every_match_of_a_block_is_handed_out_once_whoever_asks(store: Store, lanes: int) -> None:
    (block, *_) = _planner(store, 9, duplicate=4).blocks()
    hands = Lanes(block.waves, lanes)
    given = []
    for turn in count():
        taken = hands.take(turn % (lanes + 1), 5) or hands.relieve(3, 0)
        assert bool(taken) == (len(given) < len(_matches([block])))
        if not taken:
            break
        given += taken
    assert not hands.left
    assert {plan: given.count(plan) for plan in given} == dict.fromkeys(_matches([block]), 1)


@pytest.mark.parametrize("lanes", [4, 5, 8])
def test_with_as_many_workers_as_rotations_none_plays_the_same_cards_twice(
    store: Store, lanes: int
) -> None:
    (block, *_) = _planner(store, 9, duplicate=4).blocks()
    hands = Lanes(block.waves, lanes)
    for lane in range(lanes):
        own = []
        while taken := hands.take(lane, 5):
            own += [(plan.round, plan.match) for plan in taken]
        assert len(own) == len(set(own))
    assert not hands.left


def test_a_part_holds_the_same_matches_when_a_run_is_continued(store: Store) -> None:
    at_once = list(_planner(store, 22).blocks())
    for done in range(len(at_once)):
        planner = _planner(store, 22)
        planner.skip(done)
        assert next(planner.blocks()) == at_once[done]


def test_a_round_without_end_begins_at_once(store: Store) -> None:
    """5,000 bots have 26 million million tables of four."""
    planner = _planner(store, 5_000)
    first, second = islice(planner.blocks(), 2)
    assert len(_matches([first])) == len(_matches([second])) == 2 * MOST


@pytest.mark.parametrize(
    ("matches", "counts"),
    [
        (100, [0, 1, 2, 4, 8, 16, 32, 52, 72]),
        (2_000, [0, 1, 2, 3, 4]),
        (5_000, [0, 0, 0, 1, 1, 1, 2]),
        (None, [0, 1, 2, 3]),
    ],
)
def test_blocks_hold_so_many_whole_rounds(matches: int | None, counts: list[int]) -> None:
    assert [rounds_in(count, Sizes(matches)) for count in range(len(counts))] == counts


@pytest.mark.parametrize("matches", [1, 7, 2_048, 2_049, 10_000])
def test_every_match_is_in_one_block(matches: int) -> None:
    spans = list(islice(blocks(Sizes(matches)), 40))
    last = max(span.rounds.stop for span in spans if span.ends)
    for number in range(last):
        found = [span.matches for span in spans if number in span.rounds]
        assert [any(match in one for one in found) for match in range(matches)] == [True] * matches
        assert sum(len(range(matches)[one.start : one.stop]) for one in found) == matches
