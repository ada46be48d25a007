"""A field that changes: rounds that were played stand, and everybody gets his share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from counting import played_out
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tourney_runner.errors import UsageError
from tourney_runner.schedule import registry
from tourney_runner.schedule.base import Field, FormatOptions
from tourney_runner.schedule.field_changes import Stage, StagedFormat, Stages
from tourney_runner.schedule.ladder import LadderOptions
from tourney_runner.schedule.round_robin import RoundRobinOptions


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


ONE_IS_NOT_MET = (3, 12, 2)
"""Seats, entrants, rounds. Two tables of three carried round a circle of twelve cannot have all of
its six distances between them, though twelve meetings would do for eleven others."""


@settings(max_examples=30)
@example(players=3, more=6, rounds=2, joining=3)
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
        stages = stages.joined(range(newcomer), newcomer, rounds)
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
        missed = (players, newcomer + 1, rounds) == ONE_IS_NOT_MET
        assert len(met) == newcomer - missed or len(own) * (players - 1) < newcomer
        assert max(met.values()) - min(met.values()) <= 3


def test_more_rounds_are_for_all_that_are_there() -> None:
    stages = _stages(5, 3, 2, 1).joined(range(5), 5, 2).extended(range(6), 4)
    counts = _played(stages)
    assert counts[5] == 2 * 3 + 4 * 3
    assert _tables(stages.extended(range(6), 1))[: len(_tables(stages))] == _tables(stages)
    assert len(stages.extended(range(6), 1).stages) == len(stages.stages)


@settings(max_examples=30)
@given(gone=st.integers(0, 5), first=st.integers(0, 8))
def test_who_leaves_is_missing_from_a_round_on_and_makes_up_for_it_when_he_returns(
    gone: int, first: int
) -> None:
    whole = _stages(6, 3, 4, 1).joined(range(6), 6, 4)
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


def _ladder(stages: list[Stage], rounds: int = 20) -> Stages:
    names = tuple(f"bot {number}" for number in range(10))
    field = Field(entrants=10, players=3, seed=7, names=names)
    return Stages("ladder", field, LadderOptions(rounds=rounds, tables=2), stages)


def test_a_ladder_lets_newcomers_in_at_once_and_gives_them_their_share() -> None:
    before = _ladder([Stage(tuple(range(9)), 20)])
    old, _ = played_out(StagedFormat(before), lambda entrant: -entrant)
    after = before.joined(range(9), 9, 5)
    assert after.rounds == 20  # fifteen are to come, and he needs three
    tables, _ = played_out(StagedFormat(after), lambda entrant: -entrant)
    assert tables[:5] == old[:5]  # old deals stand
    assert any(9 in table.seating for table in tables[5])
    late = before.joined(range(9), 9, 20)
    assert late.rounds == 20 + 14  # the others had 20 rounds * 2 tables * 3 seats / 9
    tables, _ = played_out(StagedFormat(late), lambda entrant: -entrant)
    assert tables[:20] == old
    counts = Counter(entrant for round_ in tables for table in round_ for entrant in table.seating)
    assert counts[9] >= 9


def test_who_leaves_a_ladder_is_missing_from_a_round_on_and_may_return() -> None:
    left = _ladder([Stage(tuple(range(10)), 20)]).without(4, 8)
    tables, _ = played_out(StagedFormat(left), lambda entrant: -entrant)
    seated = [{entrant for table in round_ for entrant in table.seating} for round_ in tables]
    assert any(4 in there for there in seated[:8])
    assert not any(4 in there for there in seated[8:])
    back = left.returned([entrant for entrant in range(10) if entrant != 4], 4, 12)
    again, _ = played_out(StagedFormat(back), lambda entrant: -entrant)
    assert again[:12] == tables[:12]
    assert any(4 in table.seating for round_ in again[12:] for table in round_)


def test_other_formats_take_nobody_in() -> None:
    closed = [n for n in registry.names() if not registry.format_class(n).open_to_newcomers]
    assert "swiss" in closed
    for name in closed:
        with pytest.raises(UsageError, match="stays as it is"):
            Stages(name, _stages(4, 2, 1).field, FormatOptions(), []).joined([0, 1, 2], 3, 0)
