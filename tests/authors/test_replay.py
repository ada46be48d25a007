from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pexpect
import pytest
from authors_program import BOTS
from rich.console import Console
from tourney_runner.games.base import Scene, SeatView, Zone
from tourney_runner.replay.refeed import listen
from tourney_runner.replay.stepper import stored_deal
from tourney_runner.replay.terminal_view import Artist
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from pathlib import Path

    from authors_program import Program

TOURNAMENT = f"""\
seed: 5
bots:
  - {{bot: {BOTS}/greedy, trusted: true}}
  - {{bot: {BOTS}/random, trusted: true}}
  - {{bot: {BOTS}/faulty/crash_move, trusted: true}}
schedule: {{rounds: 1}}
match: {{duplicate: false, deals: 2}}
time: {{start: 30s, move: 10s}}
"""
KINDS = {
    "tienlen": "game: tienlen\nrules: {players: 3}\n",
    "speahx": "game: speahx\nrules: {players: 3, max_turns: 60}\non_fault: substitute\n",
}


@pytest.fixture(scope="module", params=KINDS)
def results(request: pytest.FixtureRequest, workshop: Program) -> Path:
    """A finished tournament: failing bots forfeit in one game, and are played for in the other."""
    name = f"replay-{request.param}"
    workshop.write(f"{name}.yaml", TOURNAMENT + KINDS[request.param])
    done = workshop("run", f"{name}.yaml", "--out", name)
    assert done.returncode == 0, done.stderr
    return workshop.folder / name


def test_a_bot_answers_its_own_requests_as_it_did(workshop: Program, results: Path) -> None:
    """Chance comes from the seed that it was told, so the requests must be the very same."""
    with closing(Store(results / FILE_NAME)) as store:
        stored = stored_deal(store, 1)
    for seat, name in enumerate(stored.names):
        if name != "crash-move":
            done = workshop("replay", results, 1, "--seat", seat, "--feed", BOTS / name)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("all ")
            assert f"answers are the same as those of {name}" in done.stdout


def test_another_bots_answers_are_shown_where_they_differ(workshop: Program, results: Path) -> None:
    with closing(Store(results / FILE_NAME)) as store:
        seat = stored_deal(store, 1).names.index("random")
    done = workshop("replay", results, 1, "--seat", seat, "--feed", BOTS / "greedy")
    assert done.returncode == 0, done.stderr
    assert "answers differ from those of random" in done.stdout
    assert '  request: {"type":"move","id":' in done.stdout
    assert "  then:    {" in done.stdout
    assert "  now:     {" in done.stdout


def test_a_bot_runs_by_hand_on_the_lines_that_it_was_sent(workshop: Program, results: Path) -> None:
    with closing(Store(results / FILE_NAME)) as store:
        stored = stored_deal(store, 1)
    seat = stored.names.index("random")
    done = workshop("replay", results, 1, "--seat", seat, "--lines", "--legal", "all")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines[:3]] == ["hello", "deal", "move"]
    assert lines[-1]["type"] == "result"
    requests = [line for line in lines if line["type"] == "move"]
    assert all(line["legal"] for line in requests)
    by_hand = subprocess.run(
        [sys.executable, "bot.py"],
        cwd=BOTS / "random",
        input=done.stdout,
        capture_output=True,
        text=True,
        check=True,
    )
    ready, *answers = [json.loads(line) for line in by_hand.stdout.splitlines()]
    assert ready["type"] == "ready"
    then = [it.stored for it in listen(stored, seat) if it.stored is not None]
    again = [{"id": it["id"], **was} for it, was in zip(requests, then, strict=True)]
    assert answers == json.loads(json.dumps(again))


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
def test_a_faulty_bot_is_fed_to_the_end(workshop: Program, results: Path) -> None:
    done = workshop("replay", results, 1, "--seat", 0, "--feed", BOTS / "faulty/crash_move")
    assert done.returncode == 0, done.stderr
    assert "crash: it exited with status 1" in done.stdout
    done = workshop("replay", results, "--last-fault", "crash-move", "--feed", BOTS / "greedy")
    assert "  then:    crash: it exited with status " in done.stdout
    done = workshop("replay", results, 1, "--seat", 0, "--feed", BOTS / "faulty/crash_start")
    assert done.returncode == 2
    assert "before it was ready" in done.stderr


def test_the_requests_shown_are_those_that_were_sent(results: Path) -> None:
    """The store keeps the request of each fault; this bot asks for no legal plays."""
    compared = 0
    with closing(Store(results / FILE_NAME)) as store:
        for number, record in enumerate(store.records(), 1):
            stored = stored_deal(store, number)
            for fault in record.faults:
                asked = {it.move: it.messages for it in listen(stored, fault.seat)}
                ours, theirs = json.loads(asked[fault.move][-1]), json.loads(fault.request)
                assert ours == theirs
                compared += 1
    assert compared


def test_every_deal_can_be_shown_from_every_seat(results: Path) -> None:
    with closing(Store(results / FILE_NAME)) as store:
        for number in range(1, store.count() + 1):
            stored = stored_deal(store, number)
            for seat in range(len(stored.names)):
                told = listen(stored, seat)[-1].messages
                failed = stored.names[seat] == "crash-move"
                assert failed or json.loads(told[-1])["type"] == "result"


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
def test_without_a_terminal_all_moves_are_printed(workshop: Program, results: Path) -> None:
    done = workshop("replay", results, "--last-fault", "crash-move")
    assert done.returncode == 0, done.stderr
    assert "crash-move: crash: it exited with status 1 without an answer" in done.stdout
    assert "RuntimeError: crash-move: this bot always fails at its first move" in done.stdout
    assert "the deal is over" in done.stdout


def test_people_read_cards_as_they_are_printed(workshop: Program, results: Path) -> None:
    shown = workshop("replay", results, 1).stdout
    assert re.search("10[♠♣♦♥]", shown)
    assert not re.search(r"\b[2-9TJQKA][SCDH]\b|T[♠♣♦♥]|>[♠♣♦♥]", shown)


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
def test_from_a_seat_other_hands_are_hidden(workshop: Program, results: Path) -> None:
    done = workshop("replay", results, 1, "--seat", 0)
    assert "as " in done.stdout.splitlines()[0]
    assert 'sent: {"type":"deal","seat":0,' in done.stdout
    assert 'sent: {"type":"move","id":' in done.stdout
    assert '"type":"result"' in done.stdout


def test_a_position_in_words_is_drawn_for_those_who_may_see_it() -> None:
    """Games without cards, such as those of OpenSpiel, put the position into notes."""
    own = [Zone("view", (), seat, "owner", note=f"round 1\nking of seat {seat}") for seat in (0, 1)]
    scene = Scene((SeatView(0, 0), SeatView(1, 0)), (Zone("position", (), note="o . x"), *own), 0)
    console = Console(file=io.StringIO(), width=80)
    console.print(Artist(("anna", "bert"), 0, signs=True).draw(scene))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "position: o . x" in shown
    assert "your view: \nround 1\nking of anna" in re.sub(" +$", " ", shown, flags=re.MULTILINE)
    assert "king of bert" not in shown
    console.print(Artist(("anna", "bert"), None, signs=True).draw(scene))
    assert "bert's view: " in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
def test_a_person_steps_through_a_deal(workshop: Program, results: Path) -> None:
    terminal = workshop.at_a_terminal("replay", results, 1)
    for typed, expected in (
        ("", "move 0 of"),
        ("b", "move 1 of"),
        ("f", "move 0 of"),
        ("4", "crash-move: crash"),
        ("x", "move 4 of"),
        ("?", "no key 'x'; the keys are below the position"),
        ("e", "move 4 of"),
        ("q", "1\\. "),
    ):
        terminal.expect(expected)
        terminal.expect("> ")
        terminal.sendline(typed)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
def test_a_person_who_asks_for_a_fault_sees_it_first(workshop: Program, results: Path) -> None:
    terminal = workshop.at_a_terminal("replay", results, "--last-fault", "crash-move")
    terminal.expect("crash-move: crash: it exited with status 1")
    terminal.expect("> ")
    terminal.sendline("q")
    terminal.expect(pexpect.EOF)


WRONG = {
    "no such deal": ((99,), "there is no deal 99"),
    "no deal": ((), "name a deal by its number"),
    "no such seat": ((1, "--seat", 7), "there is no seat 7 in this deal; its seats are 0 "),
    "no such bot": (("--last-fault", "gredy"), "; did you mean 'greedy'?\n"),
    "a bot without a fault": (("--last-fault", "greedy"), "'greedy' has no fault here; "),
    "nobody's requests": ((1, "--feed", BOTS / "planner"), "give --seat as well"),
    "two deals": ((1, "--last-fault", "crash-move"), "DEAL and --last-fault contradict each other"),
    "a page of one seat": ((1, "--html", "a", "--seat", 0), "--html and --seat contradict each"),
    "a page for a bot": ((1, "--html", "a", "--feed", "b"), "--html and --feed contradict each"),
    "nobody's lines": ((1, "--lines"), "give --seat as well"),
    "lines of a wrong kind": (
        (1, "--seat", 0, "--lines", "--legal", "some"),
        "--legal 'some': expected none, canonical or all",
    ),
    "legal plays without lines": ((1, "--legal", "all"), "give --lines as well"),
    "a page of lines": ((1, "--html", "a", "--lines"), "--html and --lines contradict each"),
    "notes without a page": ((1, "--no-debug"), "give --html as well"),
}


@pytest.mark.parametrize("results", ["tienlen"], indirect=True)
@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_shown_is_told(
    workshop: Program, results: Path, words: tuple[object, ...], message: str
) -> None:
    done = workshop("replay", results, *words)
    assert done.returncode == 2
    assert message in done.stderr
