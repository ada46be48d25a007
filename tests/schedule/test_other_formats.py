from __future__ import annotations

from itertools import chain, combinations
from random import Random

import msgspec
import pytest
from counting import Tally, all_rounds, mates, new_format, played_out, result, spread
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import Field, draw
from tourney_runner.schedule.pairing import score_tables
from tourney_runner.schedule.registry import format_class, make, names

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
    assert planned.rounds() in {None, len(rounds)}
    for number, tables in enumerate(rounds):
        assert planned.matches(number) in {None, len(tables)}
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


def test_swiss_seats_neighbours_in_the_ranking_together() -> None:
    rounds, _ = played_out(new_format("swiss", 60, 4, rounds=4, games=1), strength)
    apart = [abs(one - two) for table in rounds[-1] for one, two in combinations(table.seating, 2)]
    assert sum(apart) / len(apart) < 12  # chance has 20


def rematches(players: int, entrants: int, rounds: int, seed: int = 1) -> int:
    """Play a Swiss system in which luck decides, and count the meetings after the first."""
    planned = new_format("swiss", entrants, players, seed=seed, rounds=rounds, games=1)
    luck = Random(seed)
    shuffled = luck.sample(range(entrants), entrants)
    tables, _ = played_out(planned, lambda entrant: shuffled[entrant] + luck.random())
    tally = Tally(entrants, players)
    for table in chain(*tables):
        tally.add(table)
    return sum(count - 1 for count in tally.meetings.values())


def test_swiss_has_no_rematch_in_seven_rounds_and_few_in_nine() -> None:
    assert rematches(4, 40, 7) == 0
    assert rematches(4, 40, 9, seed=2) <= 5  # of 540


@pytest.mark.parametrize(("entrants", "rounds"), [(40, 9), (11, 7), (8, 5)])
def test_swiss_in_pairs_has_no_rematch(entrants: int, rounds: int) -> None:
    assert rematches(2, entrants, rounds) == 0


def test_swiss_in_pairs_finds_the_only_pairing_without_a_rematch() -> None:
    """Two rings of five met all round but for one pair of each; three pairs cross over."""
    left, right = range(5), range(5, 10)
    free = {frozenset(pair) for pair in [(0, 5), (1, 2), (3, 4), (6, 7), (8, 9)]}
    met = {
        one: {two: 1 for two in range(10) if two != one and frozenset((one, two)) not in free}
        for one in (*left, *right)
    }
    levels = {one: one / 2 for one in range(10)}
    pairs = score_tables(levels, 2, met, None, draw(1, "test"))
    assert {frozenset(pair) for pair in pairs} == free


def perfect(free: set[frozenset[int]], left: list[int]) -> bool:
    """Try all ways to pair all that are left."""
    if not left:
        return True
    one, *others = left
    return any(
        frozenset((one, two)) in free and perfect(free, [other for other in others if other != two])
        for two in others
    )


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_swiss_in_pairs_has_no_rematch_where_there_is_a_way(data: st.DataObject) -> None:
    size = 2 * data.draw(st.integers(1, 5))
    pairs = [frozenset(pair) for pair in combinations(range(size), 2)]
    free = data.draw(st.sets(st.sampled_from(pairs)))
    met = {
        one: {two: 1 for two in range(size) if two != one and frozenset((one, two)) not in free}
        for one in range(size)
    }
    levels = {one: one / 2 for one in range(size)}
    found = score_tables(levels, 2, met, None, draw(1, "test"))
    assert sorted(chain(*found)) == list(range(size))
    unplayed = sum(frozenset(pair) in free for pair in found)
    assert (unplayed == size // 2) == perfect(free, list(range(size)))


def test_swiss_plans_without_those_who_have_left() -> None:
    planned = new_format("swiss", 9, 4, rounds=4, games=1)
    first = list(planned.plan(0, ()) or ())
    one = msgspec.structs.replace(result(0, first, strength), gone=frozenset({0}))
    there = {entrant for table in planned.plan(1, [one]) or () for entrant in table.seating}
    assert there == set(range(1, 9))
    few = msgspec.structs.replace(one, gone=frozenset(range(6)))
    assert planned.plan(1, [few]) is None


def test_swiss_plans_for_thousands_in_bounded_time() -> None:
    planned = new_format("swiss", 5_000, 2, rounds=3, games=1)
    tables, _ = played_out(planned, strength)
    assert len({frozenset(table.seating) for table in chain(*tables)}) == 7_500


@pytest.mark.parametrize("name", ["swiss", "knockout", "ladder"])
def test_tournaments_of_version_1_are_planned_as_they_were(name: str) -> None:
    field = Field(entrants=13, players=4, seed=5, format_rules=1)
    old = make(name, field)
    assert type(old).__module__.endswith("first_rules")
    assert type(make(name, Field(entrants=13, players=4, seed=5))) is format_class(name)


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


def test_a_ladder_asks_for_newcomers_first() -> None:
    planned = new_format("ladder", 12, 4, rounds=40)
    _, finished = played_out(planned, strength)
    wider = new_format("ladder", 13, 4, rounds=40)
    tables = list(wider.plan(30, finished[:30]) or ())
    assert any(12 in table.seating for table in tables)


def test_a_ladder_seats_bots_of_like_strength_together() -> None:
    rounds, _ = played_out(new_format("ladder", 40, 4, rounds=60), strength)
    late = [max(table.seating) - min(table.seating) for table in chain(*rounds[-10:])]
    assert sum(late) / len(late) < 21  # 24 by chance; strangers sit at every table
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
        assert planned.matches(number) in {None, len(tables)}
        for table in tables:
            tally.add(table)
            assert len(set(table.seating) & set(range(count))) == 1
            for one in range(count):
                # Tables of two level who begins within each pair first.
                most = 1 if players > 2 else 2
                assert spread(tally.seats[one, seat] for seat in range(players)) <= most
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
