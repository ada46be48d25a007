"""A field that changes: rounds that were played stand, and everybody gets his share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.schedule import registry
from runner.schedule.base import Field, FormatOptions
from runner.schedule.round_robin import RoundRobinOptions
from runner.schedule.stages import Stage, StagedFormat, Stages


def _stages(entrants: int, players: int, rounds: int, joined: int = 0) -> Stages:
    names = tuple(f"bot {number}" for number in range(entrants + joined))
    field = Field(entrants=len(names), players=players, seed=7, names=names)
    options = RoundRobinOptions(rounds=rounds)
    return Stages("round-robin", field, options, [Stage(tuple(range(entrants)), rounds)])


def _tables(stages: Stages) -> list[tuple[int, int, tuple[int, ...]]]:
    tournament = StagedFormat(stages)
    planned = [table for number in range(stages.rounds) for table in tournament.plan(number) or ()]
    counts = Counter(table.round for table in planned)
    assert all(counts[number] == tournament.matches(number) for number in range(stages.rounds))
    return [(table.round, table.match, table.seating) for table in planned]


def _played(stages: Stages) -> Counter[int]:
    return Counter(entrant for _, _, seating in _tables(stages) for entrant in seating)


@settings(max_examples=30)
@given(
    players=st.integers(2, 5),
    more=st.integers(0, 6),
    rounds=st.integers(1, 6),
    joining=st.integers(1, 3),
)
def test_who_joins_late_plays_as_much_as_the_others_have_and_sits_everywhere(
    players: int, more: int, rounds: int, joining: int
) -> None:
    entrants = players + more
    stages = _stages(entrants, players, rounds, joining)
    before = _tables(stages)
    share = _played(stages)[0]
    for newcomer in range(entrants, entrants + joining):
        stages = stages.joined(range(newcomer), newcomer)
    after = _tables(stages)
    assert after[: len(before)] == before  # old deals stand
    tournament = StagedFormat(stages)
    for newcomer in range(entrants, entrants + joining):
        own = [seating for number, _, seating in after if tournament.newcomer(number) == newcomer]
        assert all(newcomer in seating for seating in own)
        assert share <= len(own) < share + players
        seats = Counter(seating.index(newcomer) for seating in own)
        assert len(set(seats.values())) == 1
        assert len(seats) == players
        met = Counter(other for seating in own for other in seating if other != newcomer)
        assert len(met) == newcomer or len(own) * (players - 1) < newcomer
        assert max(met.values()) - min(met.values()) <= 3


def test_more_rounds_are_for_all_that_are_there() -> None:
    stages = _stages(5, 3, 2, 1).joined(range(5), 5).extended(range(6), 4)
    counts = _played(stages)
    assert counts[5] == 2 * 3 + 4 * 3
    assert _tables(stages.extended(range(6), 1))[: len(_tables(stages))] == _tables(stages)
    assert len(stages.extended(range(6), 1).stages) == len(stages.stages)


@settings(max_examples=30)
@given(gone=st.integers(0, 5), first=st.integers(0, 8))
def test_who_leaves_is_missing_from_a_round_on_and_makes_up_for_it_when_he_returns(
    gone: int, first: int
) -> None:
    whole = _stages(6, 3, 4, 1).joined(range(6), 6)
    left = whole.without(gone, first)
    before = [table for table in _tables(whole) if table[0] < first]
    after = _tables(left)
    assert after[: len(before)] == before
    assert not any(gone in seating for number, _, seating in after if number >= first)
    others = [entrant for entrant in range(7) if entrant != gone]
    back = left.returned(others, gone, left.rounds)
    assert _tables(back)[: len(after)] == after
    assert _played(back)[gone] >= min(_played(whole)[gone], 4 * 3)
    again = left.returned(others, gone, first)
    assert _played(again)[gone] >= 4 * 3


def test_a_table_that_cannot_be_filled_is_not_played() -> None:
    left = _stages(3, 3, 4).without(1, 2)
    assert left.rounds == 2


def test_rounds_of_the_same_field_differ_from_stage_to_stage() -> None:
    stages = _stages(7, 3, 3)
    one = stages.like([Stage(tuple(range(7)), 3), Stage(tuple(range(7)), 3)])
    tables = [seating for _, _, seating in _tables(one)]
    assert tables[:21] != tables[21:]
    assert all(a[0] <= b[0] for a, b in pairwise(_tables(one)))


def test_formats_that_plan_from_results_take_nobody_in() -> None:
    closed = [n for n in registry.names() if not registry.format_class(n).open_to_newcomers]
    for name in closed:
        with pytest.raises(UsageError, match="stays as it is"):
            Stages(name, _stages(4, 2, 1).field, FormatOptions(), [])
