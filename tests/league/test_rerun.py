"""A deal that is void is played again; the first one is kept and listed."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING

import msgspec
from tourney_runner.decisions.sanctions import rule, undo
from tourney_runner.results.store import Store
from tourney_runner.verify.verification import Wanted, verify

if TYPE_CHECKING:
    from pathlib import Path

    from whole_program import Arena


def _deal_of_steady_bots(out: Path) -> int:
    store = Store(out / "results.sqlite")
    number = next(n for n, record in enumerate(store.records(), 1) if 3 not in record.seating)
    store.close()
    return number


def _stored(out: Path) -> tuple[list[tuple[str, str]], int]:
    """The deals as far as they can come out the same, and how many are void."""
    store = Store(out / "results.sqlite")
    deals = [(str(record.key), record.moves) for record in store.records()]
    voids = len(store.voids())
    store.close()
    return deals, voids


def test_a_deal_is_played_again_with_the_same_outcome_each_time(cup: Arena, out: Path) -> None:
    number = _deal_of_steady_bots(out)
    before, table = _stored(out), (out / "standings.json").read_text("utf-8")
    for times in (1, 2):
        ended = cup.run("rerun", out, "--deal", number, "--reason", "a power cut")
        assert "it came out the same" in ended.stdout
        assert _stored(out) == (before[0], times)
        assert (out / "standings.json").read_text("utf-8") == table
    assert (out / "site" / "index.html").read_text("utf-8").count("a power cut") == 2
    rule(out, "disqualified", "three", "it cheats")
    cup.run("export", out, "--all", "--deals", out / "deals.jsonl")
    exported = [json.loads(line) for line in (out / "deals.jsonl").read_text("utf-8").splitlines()]
    reasons = [deal["left_out"] for deal in exported if deal["deal"] == number]
    assert reasons[:2] == ["void: a power cut"] * 2
    for deal in exported:
        void = deal["left_out"].startswith("void: ")
        cheated = "three" in {player["bot"] for player in deal["players"]}
        assert void or (deal["left_out"] == "three is disqualified: it cheats") == cheated
    undo(out, "disqualified", "three")
    assert verify(out, Wanted(sample=0)).passed


def test_a_rerun_that_is_cut_off_changes_all_or_nothing(cup: Arena, out: Path) -> None:
    number = _deal_of_steady_bots(out)
    before = _stored(out)
    process = cup.start("rerun", out, "--deal", number, "--reason", "noise")
    deadline = time.monotonic() + 60
    while not cup.workers() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    cup.end(process, status=None)
    deals, voids = _stored(out)
    assert deals == before[0]
    assert voids <= 1
    cup.run("rerun", out, "--deal", number, "--reason", "noise")
    assert _stored(out) == (before[0], voids + 1)
    assert verify(out, Wanted(sample=0)).passed


def test_rounds_that_were_planned_from_a_deal_stay_when_it_is_void(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three", "four")]
    swiss = {"format": "swiss", "rounds": 2, "games": 1}
    arena.run("run", arena.configure(bots, schedule=swiss), "--out", "out")
    out = arena.path / "out"
    store = Store(out / "results.sqlite", create=True)
    planned_from = store.planned_from(0)
    loser = planned_from[0].seating[planned_from[0].places.index(2)]
    for number in (1, 2, 1):
        record = store.record(number)
        places = (1, 2) if record.seating[0] == loser else (2, 1)
        points = tuple(2.0 - place for place in places)
        new = msgspec.structs.replace(record, places=places, points=points)
        store.exchange([record.key], [new], "noise", "2000-01-01T00:00:00+00:00")
    assert store.record(1) != planned_from[0]
    assert store.planned_from(0) == planned_from
    store.close()
    assert "schedule" not in {finding.where for finding in verify(out, Wanted(sample=0)).findings}


def test_a_deal_that_is_not_there_is_refused(cup: Arena, out: Path) -> None:
    ended = cup.run("rerun", out, "--deal", 99, "--reason", "noise", status=2)
    assert "there is no deal 99; it has 16" in ended.stderr
    ended = cup.run("rerun", out, "--deal", 1, "--reason", " ", status=2)
    assert "give --reason" in ended.stderr


def test_all_deals_in_which_a_bot_failed_are_played_again(arena: Arena) -> None:
    switch = arena.path / "library-is-missing"
    switch.touch()
    failing = f"if os.path.exists({str(switch)!r}) and answers % 3 == 0: sys.exit(1)"
    bots = [arena.bot("one"), arena.bot("two", move=failing), arena.bot("three")]
    arena.run("run", arena.configure(bots), "--out", "out")
    assert arena.rows()["two"]["faults"]["crash"] == 4
    switch.unlink()
    words = ("rerun", "out", "--bot", "two", "--reason", "a library was missing")
    assert "give --deal DEAL, or --bot NAME with --faults" in arena.call(*words, status=2).stderr
    ended = arena.run(*words, "--faults")
    assert "4 deals are void and were played again" in ended.stdout
    assert "there were faults in 4 of them, and there are in 0 now" in ended.stdout
    assert arena.rows()["two"]["faults"] == {}
    assert verify(arena.path / "out", Wanted(sample=0)).passed
    assert "has failed in no deal" in arena.call(*words, "--faults", status=2).stderr
    assert (
        "no bot 'tow'"
        in arena.call("rerun", "out", "--bot", "tow", "--faults", "--reason", "x", status=2).stderr
    )
