"""A knockout is a fixed bracket: byes once, ties played on, and those who leave passed over."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest
from counting import new_format, played_out, result
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.errors import UsageError
from tourney_runner.schedule.knockout import TIE_BREAKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.schedule.base import Format, RoundResult, Table


def strength(entrant: int) -> float:
    """Entrant 0 is the best."""
    return -entrant


def fields(rounds: list[list[Table]]) -> list[set[int]]:
    return [{entrant for table in tables for entrant in table.seating} for tables in rounds]


def with_ties(
    planned: Format[object], level: Callable[[int, int], bool]
) -> tuple[list[list[Table]], list[RoundResult]]:
    """Play a format in which entrant and round decide who has the same points as its table."""
    rounds: list[list[Table]] = []
    finished: list[RoundResult] = []
    while (tables := planned.plan(len(rounds), finished)) is not None:
        rounds.append(list(tables))
        number = len(finished)
        one = result(number, rounds[-1], strength)
        tied = {entrant for entrant in one.points if level(entrant, number)}
        finished.append(
            msgspec.structs.replace(
                one,
                points=one.points | dict.fromkeys(tied, 1.0),
                places=one.places | dict.fromkeys(tied, 2.0),
            )
        )
    return rounds, finished


def test_it_leaves_the_strongest() -> None:
    for seed in range(5):
        rounds, _ = played_out(new_format("knockout", 16, 4, seed=seed), strength)
        assert [len(tables) for tables in rounds] == [20, 10, 5]
        assert set(rounds[-1][0].seating) >= {0, 1}


@given(entrants=st.integers(2, 70), players=st.integers(2, 14), seed=st.integers(0, 99))
@settings(max_examples=100)
def test_all_byes_are_in_the_first_round_and_all_later_tables_come_from_the_bracket(
    entrants: int, players: int, seed: int
) -> None:
    if entrants < players:
        return
    planned = new_format("knockout", entrants, players, seed=seed, games=1)
    there = fields(played_out(planned, strength)[0])
    assert len(there[-1]) == players
    assert 0 in there[-1]
    for before, after in pairwise(there[1:]):
        assert after < before
        assert len(before) in {2 * len(after), len(after)}
    full = there[1] if len(there) > 1 else there[0]
    assert len(full) in {players << power for power in range(7)}
    if len(full) == 2 * players:
        assert str(len(there)) in planned.length()


@pytest.mark.parametrize("entrants", [5, 6, 7, 11])
def test_in_pairs_no_seed_has_more_than_one_bye(entrants: int) -> None:
    for seed in range(8):
        planned = new_format("knockout", entrants, 2, seed=seed, games=1)
        there = fields(played_out(planned, strength)[0])
        slots = 1 << (entrants.bit_length() - 1)
        assert len(there[0]) == 2 * (entrants - slots)
        assert all(len(one) == slots >> number for number, one in enumerate(there[1:]))


def test_listed_seeds_have_the_byes_and_meet_last() -> None:
    planned = new_format("knockout", 18, 4, seeding="listed", games=1)
    rounds, _ = played_out(planned, strength)
    assert fields(rounds)[0] == {14, 15, 16, 17}
    second = [set(table.seating) for table in rounds[1]]
    assert all(len(table & {0, 1, 2, 3}) == 1 for table in second)
    assert [len(table & {0, 1, 2, 3}) for table in map(set, (t.seating for t in rounds[2]))] == [
        2,
        2,
    ]
    pairs = new_format("knockout", 8, 2, seeding="listed", games=1)
    there = [[set(table.seating) for table in tables] for tables in played_out(pairs, strength)[0]]
    assert there == [[{0, 7}, {3, 4}, {1, 6}, {2, 5}], [{0, 3}, {1, 2}], [{0, 1}]]


def test_a_tie_across_the_line_is_played_on_at_that_table_alone() -> None:
    planned = new_format("knockout", 16, 4, seeding="listed", games=2)
    rounds, finished = with_ties(planned, lambda one, number: number == 0 and one in {7, 8})
    first = [set(table.seating) for table in rounds[0][:4]]
    (tied,) = (table for table in first if table >= {7, 8})
    assert [set(table.seating) for table in rounds[1]] == [tied]
    assert 7 in fields(rounds)[2]
    assert planned.remarks(finished) == []
    harmless, _ = with_ties(planned, lambda one, number: number == 0 and one in {8, 15})
    assert len(harmless) == 3


def test_after_the_bound_the_better_seed_goes_on_and_that_is_said() -> None:
    planned = new_format("knockout", 16, 4, seeding="listed", games=1)
    rounds, finished = with_ties(planned, lambda one, number: number < 4 and one in {7, 8})
    assert [len(tables) for tables in rounds] == [4, *[1] * TIE_BREAKS, 2, 1]
    assert planned.remarks(finished) == [
        "b7 and b8 were level after 3 more matches; by seed, b7 goes on"
    ]
    assert 7 in fields(rounds)[TIE_BREAKS + 1]
    assert 8 not in fields(rounds)[TIE_BREAKS + 1]


def test_the_first_place_of_a_final_that_stays_level_is_shared() -> None:
    planned = new_format("knockout", 4, 4, games=1)
    rounds, finished = with_ties(planned, lambda one, _: one in {0, 1})
    assert len(rounds) == 1 + TIE_BREAKS
    (remark,) = planned.remarks(finished)
    assert remark.endswith("are level after 3 more matches, and share the first place")
    below, _ = with_ties(planned, lambda one, _: one in {2, 3})
    assert len(below) == 1


def test_after_a_disqualification_the_next_at_that_table_goes_on() -> None:
    planned = new_format("knockout", 16, 4, seeding="listed", games=1)
    tables = list(planned.plan(0, ()) or ())
    table = next(table.seating for table in tables if 0 in table.seating)
    _, second, third, _ = sorted(table)
    before = result(0, tables, strength)
    (left,) = fields([list(planned.plan(1, [before]) or ())])
    assert {0, second} <= left
    gone = msgspec.structs.replace(before, gone=frozenset({0}))
    (left,) = fields([list(planned.plan(1, [gone]) or ())])
    assert {second, third} <= left
    assert 0 not in left
    assert len(left) == 8


def test_a_round_that_has_begun_stands() -> None:
    planned = new_format("knockout", 8, 2, seeding="listed", games=1)
    first = list(planned.plan(0, ()) or ())
    finished = [result(0, first, strength)]
    second = list(planned.plan(1, finished) or ())
    finished.append(msgspec.structs.replace(result(1, second, strength), gone=frozenset({0})))
    (final,) = planned.plan(2, finished) or ()
    assert set(final.seating) == {3, 1}  # the loser to the one that has left, and the other side
    assert list(planned.plan(1, finished[:1]) or ()) == second


def test_a_bye_that_leaves_is_filled_by_the_best_of_those_who_would_be_out() -> None:
    planned = new_format("knockout", 6, 2, seeding="listed", games=1)
    first = list(planned.plan(0, ()) or ())
    one = msgspec.structs.replace(result(0, first, strength), gone=frozenset({0}))
    there = Counter(e for table in planned.plan(1, [one]) or () for e in table.seating)
    assert there == Counter([1, 2, 3, 4])


def test_teams_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot keep teams apart"):
        new_format("knockout", 8, 4, teams=tuple("aabbccdd"))
