"""Bots whose deals all fail are benched: by the stored deals alone, and never by a short row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
import pytest
from tourney_runner.decisions import sanctions
from tourney_runner.play.match_plan import AutoForfeit
from tourney_runner.ratings.standings import standings
from tourney_runner.results.records import DealKey, DealRecord, Decision, FaultRecord, SeatTime
from tourney_runner.results.rulings import take_back
from tourney_runner.results.store import Store
from tourney_runner.results.tournament_record import (
    Conditions,
    EntrantRecord,
    Schedule,
    Seed,
    TournamentRecord,
)
from tourney_runner.run.benching import Benching
from tourney_runner.run.planner import Planner
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import Field
from tourney_runner.verify.rules_check import benching_wrong

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tourney_runner.play.match_plan import MatchPlan

Fails = Callable[[DealKey, int], bool]
"""A function that returns whether an entrant fails in a deal."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    about = TournamentRecord(
        name="a cup",
        game="tienlen",
        rules={},
        differing={},
        play={},
        limits="",
        seed=Seed(1, secret=False),
        schedule=None,
        rating={},
        entrants=(),
        conditions=Conditions("", "", ""),
    )
    with closing(Store(tmp_path / "results.sqlite", create=True)) as store:
        store.begin(about)
        yield store


def planner(store: Store, kind: str = "round-robin", players: int = 3, **options: int) -> Planner:
    rules = options.pop("rules", 2)
    after = options.pop("bench_after", 10)
    field = Field(entrants=5, players=players, seed=1, format_rules=rules)
    chosen = formats.format_class(kind).options(**options)
    return Planner(formats.make(kind, field, chosen), store, 1, bench_after=after)


def record(plan: MatchPlan, fails: Fails) -> DealRecord:
    """A deal in which the entrants finish by number, and those that fail behind the others."""
    seats = plan.seats()
    key = DealKey(plan.round, plan.match, plan.rotation)
    absent = {one.entrant: one for one in plan.retired}
    failed = [one for one in seats if one in absent or fails(key, one)]
    order = sorted(seats, key=lambda one: (one in failed, one))
    return DealRecord(
        key=key,
        seating=seats,
        start=None,
        moves="",
        places=tuple(order.index(one) + 1 for one in seats),
        points=tuple(float(len(seats) - 1 - order.index(one)) for one in seats),
        times=(SeatTime(1, 1, 1),) * len(seats),
        faults=tuple(
            FaultRecord(
                seats.index(one),
                one,
                "crash",
                0,
                absent[one].cause if one in absent else "it ended",
            )
            for one in failed
        ),
    )


def play(planner: Planner, store: Store, fails: Fails, blocks: int | None = None) -> list[str]:
    """Play what is missing of the first `blocks` blocks; return the reasons of all benchings."""
    said = []
    for count, block in enumerate(planner.blocks()):
        if count == blocks:
            break
        plans = [plan for wave in block.waves for plan in wave]
        store.add(record(plan, fails) for plan in reversed(plans))
        said += [f"{one.entrant}: {one.reason}" for one in planner.finish(block)]
    return said


def faults(store: Store, entrant: int = 0) -> tuple[dict[str, int], int]:
    table = standings(list(map(str, range(5))), store.outcomes())
    (row,) = (row for row in table.entrants if row.name == str(entrant))
    return row.faults, row.forfeits


def always(_: DealKey, entrant: int) -> bool:
    return entrant == 0


def rarely(key: DealKey, entrant: int) -> bool:
    return entrant == 0 and key.round == 2


@pytest.mark.parametrize(
    ("kind", "options"),
    [("swiss", {"rounds": 16, "games": 1}), ("ladder", {"rounds": 40}), ("round-robin", {})],
)
def test_one_bad_round_benches_no_bot_and_counts_once(
    store: Store, kind: str, options: dict[str, int]
) -> None:
    assert play(planner(store, kind, **options), store, rarely) == []
    failed, unplayed = faults(store)
    assert failed.get("crash", 0) <= 3
    assert unplayed == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [("swiss", {"rounds": 20, "games": 1}), ("ladder", {"rounds": 60}), ("round-robin", {})],
)
def test_a_bot_that_always_fails_is_benched_and_its_forfeits_are_counted_apart(
    store: Store, kind: str, options: dict[str, int]
) -> None:
    (said,) = play(planner(store, kind, **options), store, always)
    assert said == "0: all of its last 10 deals failed"
    failed, unplayed = faults(store)
    assert 10 <= failed["crash"] <= 12
    assert unplayed > 0


def test_as_many_deals_as_a_round_has_must_fail(store: Store) -> None:
    """At tables of three, five bots play three deals a round each, times the rotations."""
    games = planner(store, "swiss", rounds=4, games=15)
    said = play(games, store, lambda key, one: one == 0 and (key.match % 15) > 2)
    assert said == []
    assert not faults(store)[1]


def test_bench_after_may_be_another_number_or_off(store: Store) -> None:
    quick = planner(store, "swiss", rounds=9, games=1, bench_after=2)
    assert play(quick, store, always) == ["0: all of its last 2 deals failed"]


def test_nothing_is_benched_where_that_is_off(store: Store) -> None:
    assert play(planner(store, bench_after=0), store, always) == []
    assert not faults(store)[1]


def test_a_split_run_benches_as_one_in_one_go_does(tmp_path: Path) -> None:
    found = []
    for blocks in (None, 3, 4):
        path = tmp_path / f"{blocks}.sqlite"
        with closing(Store(path, create=True)) as store:
            if blocks:  # first fewer rounds, whose end is no border of a block, then a part
                play(planner(store, rounds=3), store, always)
                play(planner(store, rounds=12), store, always, blocks)
            play(planner(store, rounds=12), store, always)
            found.append([(one.key, one.faults) for one in store.outcomes()])
    assert found[0] == found[1] == found[2]


def test_after_an_undo_only_later_deals_are_judged(store: Store) -> None:
    swiss = planner(store, "swiss", rounds=60, games=1)
    assert play(swiss, store, always, 20)
    (decision,) = store.decisions()
    take_back(store, decision, 20, "now")
    forfeit_of = Benching(store).forfeits()
    assert forfeit_of(19, 0) == AutoForfeit(0, "crash", "all of its last 10 deals failed")
    assert forfeit_of(20, 0) is None
    before = faults(store)
    play(planner(store, "swiss", rounds=60, games=1), store, rarely, 25)
    assert faults(store) == before
    assert len(play(planner(store, "swiss", rounds=60, games=1), store, always)) == 1


def test_earlier_tournaments_go_on_by_the_round(store: Store) -> None:
    """Version 1 benched a bot after one round in which all of its deals failed."""
    said = play(planner(store, rules=1), store, always)
    assert said == ["0: it failed in every deal of round 1"]
    assert faults(store)[0] == {"crash": 3}
    (cause,) = {fault.cause for one in store.outcomes() for fault in one.faults if fault.unplayed}
    assert cause == "forfeited unplayed: it failed in every deal of round 1"


def test_verification_finds_benchings_that_the_deals_do_not_give(store: Store) -> None:
    bots = tuple(EntrantRecord(number=one, name=f"bot {one}", hash="") for one in range(5))
    store.change(entrants=bots, complete=True, schedule=Schedule("swiss", {}, 20, 2))
    play(planner(store, "swiss", rounds=20, games=1), store, always)
    options = formats.format_class("swiss").options(rounds=20, games=1)
    swiss = formats.make("swiss", Field(entrants=5, players=3, seed=1), options)
    assert list(benching_wrong(store, swiss)) == []
    (right,) = store.decisions()
    assert right.from_round is not None
    store.decide(Decision(0, "now", "benched", 1, "to be rid of it", from_round=3))
    store.decide(msgspec.structs.replace(right, from_round=right.from_round + 1))
    assert [text.split(",")[0] for text in benching_wrong(store, swiss)] == [
        "bot 1 was benched after round 3",
        f"bot 0 was not benched after round {right.from_round}",
        f"bot 0 was benched after round {right.from_round + 1}",
    ]


def test_unbench_refuses_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no results here"):
        sanctions.unbench(tmp_path, "a")
