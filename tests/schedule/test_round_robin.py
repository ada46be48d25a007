from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, pairwise, permutations
from math import comb, factorial
from typing import Any

import pytest
from counting import Tally, all_rounds, new_format, played_out, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import Field
from tourney_runner.schedule.registry import make, names

# entrants, players, rounds; fewest and most meetings of a pair
MEETINGS = [
    (5, 4, 4, 12, 12),
    (7, 4, 6, 12, 12),
    (12, 4, 9, 9, 11),
    (20, 4, 16, 9, 11),
    (50, 4, 41, 9, 11),
    (16, 14, 1, 12, 13),
    (30, 9, 4, 9, 11),
]

fields = st.integers(2, 24).flatmap(
    lambda entrants: st.tuples(st.just(entrants), st.integers(2, min(entrants, 14)))
)
seeds = st.integers(0, 2**64)


@pytest.mark.parametrize(("entrants", "players", "rounds", "fewest", "most"), MEETINGS)
def test_pairs_meet_about_equally_often(
    entrants: int, players: int, rounds: int, fewest: int, most: int
) -> None:
    tally = Tally(entrants, players)
    for tables in all_rounds(new_format("round-robin", entrants, players, rounds=rounds)):
        for table in tables:
            tally.add(table)
    assert min(tally.meeting_counts()) >= fewest
    assert max(tally.meeting_counts()) <= most
    assert set(tally.seat_counts()) == {rounds}


@settings(max_examples=60)
@given(field=fields, seed=seeds)
def test_every_prefix_is_balanced_in_seats_and_every_round_in_meetings(
    field: tuple[int, int], seed: int
) -> None:
    entrants, players = field
    planned = new_format("round-robin", entrants, players, seed=seed, rounds=4)
    tally = Tally(entrants, players)
    for tables in all_rounds(planned):
        for table in tables:
            tally.add(table)
            assert spread(tally.seat_counts()) <= 1
        assert spread(tally.seat_counts()) == 0
        assert spread(tally.meeting_counts()) <= 3
        assert spread(tally.succession_counts()) <= 4


@settings(max_examples=60)
@given(field=fields, seed=seeds)
def test_a_round_has_the_promised_matches_of_different_entrants(
    field: tuple[int, int], seed: int
) -> None:
    entrants, players = field
    planned = new_format("round-robin", entrants, players, seed=seed, rounds=2)
    for number, tables in enumerate(all_rounds(planned)):
        assert len(tables) == planned.matches(number)
        assert [table.match for table in tables] == list(range(len(tables)))
        assert {table.round for table in tables} == {number}
        for table in tables:
            assert len(set(table.seating)) == players
            assert set(table.seating) <= set(range(entrants))


def test_seats_stay_balanced_in_a_large_field() -> None:
    tally = Tally(200, 4)
    for tables in all_rounds(new_format("round-robin", 200, 4, rounds=30)):
        for table in tables:
            tally.add(table)
        assert spread(tally.meeting_counts()) <= 2
    assert set(tally.seat_counts()) == {30}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_field_that_fills_the_table_plays_whole_sets_of_circular_orders(players: int) -> None:
    planned = new_format("round-robin", players, players, rounds=2)
    for tables in all_rounds(planned):
        seatings = [table.seating for table in tables]
        assert sorted(seatings) == sorted(permutations(range(players)))
        assert len(seatings) == factorial(players)


def test_a_large_table_of_the_whole_field_seats_everybody_everywhere() -> None:
    tally = Tally(14, 14)
    for tables in all_rounds(new_format("round-robin", 14, 14, rounds=13)):
        assert len(tables) == 14
        for table in tables:
            tally.add(table)
    assert set(tally.seat_counts()) == {13}
    assert spread(tally.succession_counts()) <= 3


@pytest.mark.parametrize(
    ("entrants", "players"), [(6, 3), (8, 4), (12, 4), (9, 6), (13, 5), (9, 2)]
)
def test_a_complete_round_plays_every_table_once(entrants: int, players: int) -> None:
    planned = new_format("round-robin", entrants, players, rounds=2, complete=True)
    tally = Tally(entrants, players)
    for tables in all_rounds(planned):
        assert len(tables) == comb(entrants, players)
        played = {tuple(sorted(table.seating)) for table in tables}
        assert played == set(combinations(range(entrants), players))
        for table in tables:
            tally.add(table)
            assert spread(tally.seat_counts()) <= 4
    assert spread(tally.meeting_counts()) == 0


def test_a_complete_round_too_large_to_list_starts_at_once() -> None:
    tables = new_format("round-robin", 200, 9, rounds=1, complete=True).plan(0, ())
    assert tables is not None
    played = [tuple(sorted(table.seating)) for table, _ in zip(tables, range(500), strict=False)]
    assert len(set(played)) == 500


@given(seed=seeds)
@settings(max_examples=10)
def test_the_same_seed_gives_the_same_schedule_and_rounds_in_any_order(seed: int) -> None:
    planned = new_format("round-robin", 11, 4, seed=seed, rounds=6)
    backwards = new_format("round-robin", 11, 4, seed=seed, rounds=6)
    late_first = [list(backwards.plan(number, ()) or ()) for number in reversed(range(6))]
    assert all_rounds(planned) == late_first[::-1]


def test_the_schedule_of_a_seed_never_changes() -> None:
    planned = new_format("round-robin", 7, 4, seed=20261129, rounds=2)
    assert [table.seating for table in all_rounds(planned)[1]] == [
        (5, 3, 1, 2),
        (3, 1, 0, 6),
        (1, 0, 2, 4),
        (0, 2, 6, 5),
        (2, 6, 4, 3),
        (6, 4, 5, 1),
        (4, 5, 3, 0),
    ]


def test_another_seed_gives_another_schedule() -> None:
    first, second = (
        all_rounds(new_format("round-robin", 12, 4, seed=seed, rounds=1)) for seed in (1, 2)
    )
    assert first != second


def test_more_rounds_leave_the_earlier_ones_as_they_were() -> None:
    short = all_rounds(new_format("round-robin", 10, 4, rounds=3))
    long = all_rounds(new_format("round-robin", 10, 4, rounds=5))
    assert long[:3] == short


TEAMS: list[tuple[tuple[str | None, ...], int]] = [
    (("a", "a", "a", *[None] * 9), 4),
    (tuple("aabbccdd"), 4),
    (tuple("aaabbbccc"), 3),
    ((*"ab" * 5, *[None] * 14), 4),
]


@pytest.mark.parametrize(("teams", "players"), TEAMS)
@pytest.mark.parametrize("complete", [False, True])
def test_two_of_a_team_never_share_a_table(
    teams: tuple[str | None, ...], players: int, *, complete: bool
) -> None:
    planned = new_format(
        "round-robin", len(teams), players, teams=teams, rounds=6, complete=complete
    )
    for number, tables in enumerate(all_rounds(planned)[:2]):
        assert len(tables) == planned.matches(number)
        for table in tables:
            there = [teams[entrant] for entrant in table.seating if teams[entrant]]
            assert len(there) == len(set(there))


@pytest.mark.parametrize(("teams", "players"), TEAMS)
def test_teams_leave_seats_balanced_and_strangers_meeting(
    teams: tuple[str | None, ...], players: int
) -> None:
    planned = new_format("round-robin", len(teams), players, teams=teams, rounds=8)
    tally = Tally(len(teams), players)
    for tables in all_rounds(planned):
        for table in tables:
            tally.add(table)
        assert spread(tally.seat_counts()) == 0
    for one, other in combinations(range(len(teams)), 2):
        if teams[one] is None or teams[one] != teams[other]:
            assert tally.meetings[one, other] > 0


def test_rounds_with_teams_can_be_planned_again() -> None:
    planned = new_format("round-robin", 8, 4, teams=tuple("aabbccdd"), rounds=4)
    first = all_rounds(planned)
    assert all_rounds(planned) == first


def test_a_team_that_cannot_be_kept_apart_is_refused() -> None:
    with pytest.raises(UsageError, match="team of 3 among 8 entrants"):
        new_format("round-robin", 8, 4, teams=("a", "a", "a", *[None] * 5))
    with pytest.raises(UsageError, match="fewer than 4 teams"):
        new_format("round-robin", 6, 4, teams=tuple("aabbcc"), complete=True)


def test_a_table_larger_than_the_field_is_refused() -> None:
    with pytest.raises(UsageError, match="a table of 4 cannot be filled from 3 entrants"):
        Field(entrants=3, players=4, seed=1)


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    assert "round-robin" in names()
    with pytest.raises(UsageError, match=r"no format 'round-robbin'.*round-robin"):
        make("round-robbin", Field(entrants=5, players=4, seed=1))


def test_neighbours_in_a_round_are_all_different_tables() -> None:
    (tables,) = all_rounds(new_format("round-robin", 9, 4, rounds=1))
    assert all(one.seating != other.seating for one, other in pairwise(tables))


@pytest.mark.parametrize(
    ("name", "options", "teams"),
    [
        ("round-robin", {"rounds": 40}, ()),
        ("round-robin", {"rounds": 40}, ("a", "a", "b", "b", None, None, None, None, None)),
        ("round-robin", {"rounds": 7, "complete": True}, ()),
        ("gauntlet", {"rounds": 9, "challengers": ["b0"]}, ()),
        ("swiss", {"rounds": 12, "games": 3}, ()),
        ("ladder", {"rounds": 60}, ()),
    ],
)
def test_each_of_a_pair_begins_as_often_as_the_other(
    name: str, options: dict[str, Any], teams: tuple[str | None, ...]
) -> None:
    planned = new_format(name, 9, 2, teams=teams, **options)
    rounds, _ = played_out(planned, lambda entrant: -entrant)
    began = Counter(table.seating for table in chain(*rounds))
    for one, two in combinations(range(9), 2):
        assert abs(began[one, two] - began[two, one]) <= 1
