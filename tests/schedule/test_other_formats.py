from __future__ import annotations

from itertools import chain

import pytest
from counting import Tally, all_rounds, mates, new_format, played_out, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.errors import UsageError
from tourney_runner.schedule.registry import format_class, names

FIELDS = [(4, 4), (5, 4), (9, 4), (16, 4), (7, 2), (23, 5), (14, 14)]
FROM_RESULTS = [("swiss", {"rounds": 6}), ("knockout", {}), ("ladder", {"rounds": 30})]


def strength(entrant: int) -> float:
    """Entrant 0 is the best."""
    return -entrant


@pytest.mark.parametrize(("name", "options"), FROM_RESULTS)
@pytest.mark.parametrize(("entrants", "players"), FIELDS)
def test_every_round_has_the_promised_full_tables(
    name: str, options: dict[str, int], entrants: int, players: int
) -> None:
    planned = new_format(name, entrants, players, **options)
    assert not planned.ahead()
    rounds, _ = played_out(planned, strength)
    assert len(rounds) == planned.rounds()
    for number, tables in enumerate(rounds):
        assert len(tables) == planned.matches(number)
        assert [table.match for table in tables] == list(range(len(tables)))
        for table in tables:
            assert len(set(table.seating)) == players
            assert set(table.seating) <= set(range(entrants))


@pytest.mark.parametrize(("name", "options"), FROM_RESULTS)
def test_the_same_results_give_the_same_tables(name: str, options: dict[str, int]) -> None:
    rounds, finished = played_out(new_format(name, 13, 4, seed=5, **options), strength)
    again = new_format(name, 13, 4, seed=5, **options)
    for number in reversed(range(len(rounds))):
        assert list(again.plan(number, finished[:number]) or ()) == rounds[number]


@pytest.mark.parametrize("name", names())
def test_every_format_says_what_it_is(name: str) -> None:
    found = format_class(name)
    assert found.name == name
    assert found.summary
    assert found.options.model_json_schema()["type"] == "object"


def test_swiss_seats_the_leaders_together_in_the_end() -> None:
    rounds, _ = played_out(new_format("swiss", 24, 4, rounds=6, games=1), strength)
    last = [set(table.seating) for table in rounds[-1]]
    top = next(table for table in last if 0 in table)
    assert max(top) <= 10


def test_swiss_has_few_rematches() -> None:
    rounds, _ = played_out(new_format("swiss", 40, 4, rounds=7, games=1), strength)
    tally = Tally(40, 4)
    for table in chain(*rounds):
        tally.add(table)
    assert max(tally.meetings.values()) <= 3
    assert sum(count > 1 for count in tally.meetings.values()) <= 0.25 * len(tally.meetings)


def test_swiss_lets_everybody_sit_out_equally_often() -> None:
    rounds, finished = played_out(new_format("swiss", 11, 4, rounds=11, games=2), strength)
    rested = [sum(e not in result.places for result in finished) for e in range(11)]
    assert sum(rested) == 3 * 11
    assert spread(rested) <= 1
    assert all(len(tables) == 4 for tables in rounds)


@pytest.mark.parametrize(("entrants", "players"), [(5, 4), (7, 2), (11, 4)])
def test_swiss_rests_the_last_of_those_who_have_rested_least(entrants: int, players: int) -> None:
    for seed in range(10):
        planned = new_format("swiss", entrants, players, seed=seed, rounds=2, games=1)
        _, (first, second) = played_out(planned, strength)
        resting = first.points.keys() - second.points.keys()
        others = first.points.keys() & second.points.keys()
        assert len(resting) == entrants % players
        assert max(first.points[e] for e in resting) <= min(first.points[e] for e in others)


@pytest.mark.parametrize(("name", "options"), FROM_RESULTS)
def test_seats_stay_fair(name: str, options: dict[str, int]) -> None:
    rounds, _ = played_out(new_format(name, 12, 4, **options), strength)
    tally = Tally(12, 4)
    for table in chain(*rounds):
        tally.add(table)
    for entrant in range(12):
        assert spread(tally.seats[entrant, seat] for seat in range(4)) <= 2


def test_a_knockout_leaves_the_strongest() -> None:
    for seed in range(5):
        rounds, _ = played_out(new_format("knockout", 16, 4, seed=seed), strength)
        assert [len(tables) for tables in rounds] == [20, 10, 5]
        assert set(rounds[-1][0].seating) >= {0, 1}


@given(entrants=st.integers(2, 60), players=st.integers(2, 14), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_a_knockout_shrinks_to_one_full_table(entrants: int, players: int, seed: int) -> None:
    if entrants < players:
        return
    rounds, _ = played_out(new_format("knockout", entrants, players, seed=seed, games=1), strength)
    fields = [{entrant for table in tables for entrant in table.seating} for tables in rounds]
    assert len(rounds[-1]) == 1
    assert len(fields[-1]) == players
    assert 0 in fields[-1]
    assert sorted(map(len, fields), reverse=True) == [len(there) for there in fields]


def test_listed_seeds_have_the_byes_and_meet_late() -> None:
    planned = new_format("knockout", 18, 4, seeding="listed", games=1)
    first = list(planned.plan(0, ()) or ())
    assert {entrant for table in first for entrant in table.seating} == set(range(2, 18))
    assert all(len(set(table.seating) & {2, 3, 4, 5}) == 1 for table in first)


def test_a_knockout_with_teams_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot keep teams apart"):
        new_format("knockout", 8, 4, teams=tuple("aabbccdd"))


def test_a_ladder_asks_for_newcomers_first() -> None:
    planned = new_format("ladder", 12, 4, rounds=40)
    _, finished = played_out(planned, strength)
    wider = new_format("ladder", 13, 4, rounds=40)
    tables = list(wider.plan(30, finished[:30]) or ())
    assert any(12 in table.seating for table in tables)


def test_a_ladder_seats_bots_of_like_strength_together() -> None:
    rounds, _ = played_out(new_format("ladder", 40, 4, rounds=60), strength)
    late = [max(table.seating) - min(table.seating) for table in chain(*rounds[-10:])]
    assert sum(late) / len(late) < 16  # 24 by chance
    tally = Tally(40, 4)
    for table in chain(*rounds):
        tally.add(table)
    played = [sum(tally.seats[entrant, seat] for seat in range(4)) for entrant in range(40)]
    assert min(played) > 0.4 * max(played)


@pytest.mark.parametrize("name", ["swiss", "ladder"])
@pytest.mark.parametrize(
    "teams", [tuple("aabbccddee"), (*"aa", *[None] * 9), tuple("aaabbbcccddd")]
)
def test_formats_from_results_keep_teams_apart(name: str, teams: tuple[str | None, ...]) -> None:
    for seed in range(5):
        planned = new_format(name, len(teams), 3, seed=seed, teams=teams, rounds=8)
        rounds, _ = played_out(planned, strength)
        assert mates(chain(*rounds), teams) == 0


@pytest.mark.parametrize("name", ["swiss", "ladder"])
def test_formats_from_results_refuse_a_team_larger_than_their_tables(name: str) -> None:
    with pytest.raises(UsageError, match="team of 4 cannot be kept apart at 3 tables"):
        new_format(name, 12, 4, teams=(*"aaaa", *[None] * 8))


@pytest.mark.parametrize(
    ("entrants", "players", "count"), [(9, 4, 1), (12, 4, 3), (8, 2, 2), (4, 4, 1)]
)
def test_a_challenger_meets_everybody_of_the_field_equally(
    entrants: int, players: int, count: int
) -> None:
    challengers = [f"b{number}" for number in range(count)]
    planned = new_format("gauntlet", entrants, players, challengers=challengers, rounds=6)
    tally = Tally(entrants, players)
    for number, tables in enumerate(all_rounds(planned), 1):
        assert len(tables) == planned.matches(number)
        for table in tables:
            tally.add(table)
            assert len(set(table.seating) & set(range(count))) == 1
            for one in range(count):
                assert spread(tally.seats[one, seat] for seat in range(players)) <= 1
        met = {tally.meetings[one, o] for one in range(count) for o in range(count, entrants)}
        assert met == {number * (players - 1)}
    for entrant in range(count, entrants):
        assert spread(tally.seats[entrant, seat] for seat in range(players)) <= 3


def test_challengers_together_sit_at_every_table() -> None:
    planned = new_format("gauntlet", 10, 4, challengers=["b3", "b7"], together=True, rounds=5)
    tally = Tally(10, 4)
    for table in chain(*all_rounds(planned)):
        assert {3, 7} <= set(table.seating)
        tally.add(table)
    others = [tally.meetings[min(3, o), max(3, o)] for o in range(10) if o not in {3, 7}]
    assert spread(others) == 0
    assert spread(tally.seats[3, seat] for seat in range(4)) <= 1
    assert spread(tally.seats[7, seat] for seat in range(4)) <= 1


def test_two_challengers_can_fill_the_table() -> None:
    planned = new_format("gauntlet", 5, 2, challengers=["b0", "b4"], together=True, rounds=3)
    assert [table.seating for table in chain(*all_rounds(planned))].count((0, 4)) == 3


def test_a_gauntlet_keeps_teams_apart() -> None:
    teams = ("a", "b", "b", "a", "c", "c", None, None, None, None)
    planned = new_format("gauntlet", 10, 4, challengers=["b0", "b1"], teams=teams, rounds=4)
    tables = list(chain(*all_rounds(planned)))
    assert mates(tables, teams) == 0
    assert len(tables) == 4 * (planned.matches(0) or 0)


WRONG = [
    ({}, "names of its challengers"),
    ({"challengers": ["nobody"]}, "found 'nobody', expected one of the bots"),
    ({"challengers": ["b1", "b1"]}, "named twice"),
    ({"challengers": ["b0", "b1", "b2", "b3", "b4"], "together": True}, "do not make tables"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_gauntlet_that_cannot_be_played_is_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        new_format("gauntlet", 6, 4, **options)
