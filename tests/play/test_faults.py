"""Tests of bots that fail, and of the records of their faults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from real_table import LIMIT, only_fault, settings
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt
from tourney_runner.play.match_plan import AutoForfeit
from tourney_runner.process.sandbox import choose, probe
from tourney_runner.results.records import Note

if TYPE_CHECKING:
    from pathlib import Path

    from real_table import RealTable

CRASH = 'def on_move(m): sys.stderr.write("I am lost\\n"); sys.exit(3)'
ILLEGAL = 'def on_move(m): send({"id": m["id"], "play": ["2H", "3H"]})'


def test_a_fault_keeps_request_answer_and_stderr(table: RealTable) -> None:
    table.seat(
        'def on_move(m): sys.stderr.write("the table is mine\\n"); print("hm", flush=True); '
        'send({"id": m["id"], "play": ["2H", "3H"]})'
    )
    table.seat()
    fault = only_fault(table.play())
    request = json.loads(fault.request)
    assert request["type"] == "move"
    assert json.loads(fault.answer.splitlines()[-1]) == {"id": request["id"], "play": ["2H", "3H"]}
    assert fault.stderr == "the table is mine\n"
    assert fault.entrant == 0
    assert fault.move == 0


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ('def on_move(m): raw(b\'{"id": 12, "pass\')', '{"id": 12, "pass'),
        ('def on_move(m): send({"id": 5, "pass": True})', '{"id": 5, "pass": true}'),
        ('def on_move(m): raw(b"\\xff\\n")', "\N{REPLACEMENT CHARACTER}"),
        ("def on_move(m): time.sleep(0.4); raw(b'{\"id\": 0}\\n')", ""),
    ],
    ids=["a begun line", "a stale answer", "bytes that are not UTF-8", "nothing in time"],
)
def test_a_fault_keeps_what_came_instead_of_an_answer(
    table: RealTable, body: str, answer: str
) -> None:
    table.seat(body)
    table.seat()
    assert answer in only_fault(table.play(move_ms=LIMIT)).answer


def test_of_a_flood_only_a_readable_part_is_kept(table: RealTable) -> None:
    table.seat('def on_move(m):\n while True: raw(b"thinking" * 1000)')
    table.seat()
    fault = only_fault(table.play())
    assert fault.answer.startswith("thinking")
    assert len(fault.answer) < 5000


def test_of_megabytes_of_stderr_beginning_and_end_are_kept(table: RealTable) -> None:
    table.seat(
        'def on_move(m): sys.stderr.write("first\\n" + "x" * 5_000_000 + "\\nlast\\n"); sys.exit(1)'
    )
    table.seat()
    fault = only_fault(table.play(stderr=10_000))
    assert fault.kind == "crash"
    assert fault.stderr.startswith("first\n")
    assert fault.stderr.endswith("\nlast\n")
    assert "bytes dropped" in fault.stderr
    assert len(fault.stderr) < 11_000


def test_stderr_of_a_good_bot_goes_to_its_log(table: RealTable) -> None:
    table.seat('def on_deal(m): sys.stderr.write("a new deal\\n")')
    table.seat()
    (record,) = table.play()
    assert record.notes == (Note(0, "stderr", "a new deal\n"),)


def test_a_bot_that_ends_between_two_deals_is_started_anew_without_a_fault(
    table: RealTable,
) -> None:
    table.seat("def on_result(m): sys.stderr.write('bye'); sys.exit(3)", logging=True)
    table.seat()
    records = table.play(deals=3)
    assert [record.faults for record in records] == [(), (), ()]
    assert len({process for process, _ in table.log(0)}) == 3
    assert len(table.messages(0, "result")) == 2
    ended = Note(
        0,
        "ended",
        "it exited with status 3 without an answer, between two deals: it is started again",
    )
    assert records[1].notes == (ended, Note(0, "stderr", "bye"))


def test_a_bot_that_fails_at_its_first_move_fails_in_a_fresh_process_too(table: RealTable) -> None:
    table.seat("""
def on_deal(m): global kings; kings = "K" in "".join(m["hand"])
def on_move(m): kings or sys.exit(9); send(answer(m))
""")
    table.seat()
    records = table.play(deals=8)
    starts = [dealt(settings(), record.key, record.start) for record in records]
    kings = ["K" in "".join(start.hand(0)) for start in starts]
    assert {*kings} == {True, False}
    assert [record.faults == () for record in records] == kings


def test_the_others_play_on_without_a_forfeiter(table: RealTable) -> None:
    table.seat(CRASH)
    for _ in range(3):
        table.seat()
    (record,) = table.play()
    assert record.moves.startswith("!0 ")
    assert record.places[0] == 4
    assert sorted(record.places) == [1, 2, 3, 4]
    assert record.points[0] == 0


@pytest.mark.parametrize("game", ["tienlen", "speahx"])
def test_of_several_forfeiters_the_earlier_is_the_lower(table: RealTable, game: str) -> None:
    table.seat(CRASH)
    table.seat('def on_deal(m): raise RuntimeError("no")')
    table.seat("raise SystemExit(1)")
    table.seat()
    (record,) = table.play(game)
    assert (record.faults[0].seat, record.faults[0].kind) == (2, "start")
    order = [fault.seat for fault in record.faults]
    assert sorted(order) == [0, 1, 2]
    assert [record.places[seat] for seat in order] == [4, 3, 2]
    assert record.places[3] == 1


def test_a_fault_in_the_middle_of_a_deal_is_placed_there(table: RealTable) -> None:
    table.seat(
        "seen = []\ndef on_move(m): seen.append(m); len(seen) < 3 or sys.exit(9); send(answer(m))"
    )
    for _ in range(2):
        table.seat()
    (record,) = table.play()
    (fault,) = record.faults
    codes = record.moves.split()
    assert codes[fault.move] == "!0"
    assert fault.move > 4
    assert record.places[0] == 3


def test_a_bot_is_started_again_for_the_next_deal(table: RealTable) -> None:
    table.seat(f"log('start')\n{CRASH}")
    table.seat(logging=True)
    records = table.play(deals=3)
    assert [record.faults[0].kind for record in records] == ["crash"] * 3
    assert len({process for process, _ in table.log(0)}) == 3
    assert len({process for process, _ in table.log(1)}) == 1


def test_only_the_one_that_failed_is_started_again(table: RealTable) -> None:
    table.seat("first = True\nlog('start')")
    table.seat(f"log('start')\n{ILLEGAL}")
    table.seat("log('start')")
    table.play(deals=3)
    assert [len(table.log(seat)) for seat in range(3)] == [1, 3, 1]


def test_a_substitute_plays_for_a_bot_up_to_the_most_faults_then_it_forfeits(
    table: RealTable,
) -> None:
    table.seat(CRASH)
    for _ in range(2):
        table.seat()
    (record,) = table.play(on_fault="substitute", max_faults=3)
    assert [fault.substituted for fault in record.faults] == [True, True, True, False]
    codes = record.moves.split()
    assert sum(code.startswith("?") for code in codes) == 3
    assert codes.count("!0") == 1
    assert record.places[0] == 3


def test_the_substitute_plays_the_fallback_action_of_the_game(table: RealTable) -> None:
    table.seat(ILLEGAL)
    table.seat()
    (record,) = table.play(on_fault="substitute", max_faults=100)
    chosen = settings()
    rules = find_game("tienlen")
    assert record.faults
    assert all(fault.substituted for fault in record.faults)
    played = [step for step in steps(chosen, record) if step.fallback]
    assert len(played) == len(record.faults)
    assert record.moves.split()[0] == f"?{rules.encode(played[0].action)}"


def test_faults_are_counted_over_a_match(table: RealTable) -> None:
    table.seat(CRASH)
    table.seat()
    records = table.play(on_fault="substitute", max_faults=2, deals=3)
    substituted = [fault.substituted for record in records for fault in record.faults]
    assert substituted == [True, True, False, False, False]


def test_a_bot_that_cannot_start_is_substituted_move_by_move(table: RealTable) -> None:
    table.seat("raise SystemExit(1)")
    table.seat()
    (record,) = table.play(on_fault="substitute", max_faults=4)
    assert {fault.kind for fault in record.faults} == {"start"}
    assert sum(code.startswith("?") for code in record.moves.split()) == 4
    assert record.places == (2, 1)


def test_a_bot_whose_turn_never_came_is_shown_no_request_of_another(table: RealTable) -> None:
    table.seat(CRASH)
    table.seat("raise SystemExit(1)")
    (record,) = table.play(on_fault="substitute", max_faults=0)
    crash, start = record.faults
    assert (crash.seat, crash.kind) == (0, "crash")
    assert crash.request
    assert (start.seat, start.kind, start.request) == (1, "start", "")
    assert record.places == (2, 1)


def test_nothing_is_played_for_a_bot_in_a_deal_that_is_over(table: RealTable) -> None:
    table.seat("raise SystemExit(1)")
    table.seat()
    (record,) = table.play(on_fault="substitute", retired=(AutoForfeit(1, "crash", "it failed"),))
    assert [(fault.seat, fault.substituted) for fault in record.faults] == [(1, False), (0, False)]
    assert record.moves == "!1"


def test_a_substituted_bot_can_take_the_game_up_again(table: RealTable) -> None:
    table.seat(
        "import pathlib\n"
        'flag = pathlib.Path("failed")\n'
        "turns = 0\n"
        "def on_move(m):\n"
        " global turns; turns += 1\n"
        " if turns == 2 and not flag.exists(): flag.touch(); sys.exit(1)\n"
        " send(answer(m))",
        logging=True,
    )
    table.seat()
    (record,) = table.play(on_fault="substitute")
    assert len(record.faults) == 1
    first, second = dict.fromkeys(process for process, _ in table.log(0))
    assert len(table.messages(0, "deal")) == 2, "the new process is told of the deal, too"
    moves = [(process, entry) for process, entry in table.log(0) if entry["type"] == "move"]
    before = [event for process, move in moves if process == first for event in move["events"]]
    told = next(move["events"] for process, move in moves if process == second)
    assert before
    assert told[: len(before)] == before, "and of all that has happened in it"


def test_time_runs_out_only_when_the_bank_is_drawn_too(table: RealTable) -> None:
    # Each move of 0.6 s draws half of what it takes: the bank is enough for two or three.
    table.seat("def on_move(m): time.sleep(0.6); send(answer(m))")
    table.seat()
    (record,) = table.play(move_ms=300, bank_ms=1000)
    (fault,) = record.faults
    assert fault.kind == "timeout"
    assert fault.move > 0


def test_a_move_that_timed_out_has_drawn_the_whole_bank(table: RealTable) -> None:
    table.seat(
        "import pathlib\n"
        'flag = pathlib.Path("failed")\n'
        "def on_move(m):\n"
        " if not flag.exists(): flag.touch(); time.sleep(60)\n"
        " send(answer(m))",
        logging=True,
    )
    table.seat()
    (record,) = table.play(move_ms=LIMIT, bank_ms=100, on_fault="substitute")
    banks = [message["time"]["bank"] for message in table.messages(0, "move")]
    assert banks[0] == 100
    assert set(banks[1:]) == {0}
    assert record.times[0].longest >= (LIMIT + 100) * 1_000_000


def test_the_clock_of_the_first_move_starts_after_ready(table: RealTable) -> None:
    table.seat(f"def on_hello(m): time.sleep({LIMIT / 1000} + 0.2); send(READY)")
    table.seat()
    (record,) = table.play(move_ms=LIMIT)
    assert all(fault.seat != 0 for fault in record.faults)


def test_retired_entrants_forfeit_unplayed_and_are_never_started(table: RealTable) -> None:
    table.seat("log('start')")
    table.seat(logging=True)
    table.seat(logging=True)
    retired = AutoForfeit(0, "crash", "all of its last 12 deals failed")
    (record,) = table.play(retired=(retired,))
    (fault,) = record.faults
    assert AutoForfeit.of(fault) == retired  # for whoever plays the deal again
    assert fault.kind == "crash"
    assert fault.cause == "forfeited unplayed: all of its last 12 deals failed"
    assert record.places[0] == 3
    with pytest.raises(FileNotFoundError):
        table.log(0)


def test_debug_notes_are_kept_up_to_four_kibibytes_a_deal(table: RealTable) -> None:
    table.seat('def on_move(m): send({**answer(m), "debug": "\\u2660" * 500})')
    table.seat('def on_move(m): send({**answer(m), "debug": "I am fine"})')
    first, second = table.play(deals=2)
    for record in (first, second):
        kept = "".join(text for _, seat, text in record.debug if seat == 0)
        assert set(kept) == {"\N{BLACK SPADE SUIT}"}
        assert 4090 <= len(kept.encode()) <= 4096
        assert any(text == "I am fine" for _, seat, text in record.debug if seat == 1)
    codes = first.moves.split()
    assert all(0 <= move < len(codes) for move, _, _ in first.debug)


def test_debug_notes_of_a_fault_are_kept(table: RealTable) -> None:
    table.seat('def on_move(m): send({"id": m["id"], "play": ["2H", "3H"], "debug": "bold"})')
    table.seat()
    (record,) = table.play()
    assert (0, 0, "bold") in record.debug


def test_faults_are_where_the_configuration_says_so_of_output(table: RealTable) -> None:
    table.seat('def on_move(m): raw(b"x" * 500 + b"\\n"); send(answer(m))')
    table.seat()
    fault = only_fault(table.play(output=400))
    assert fault.kind == "flood"
    assert "400 bytes" in fault.cause


FAILURES = {
    # a way to fail: the kind of the fault, under every sandbox
    "closes stdout": ("crash", "def on_move(m): os.close(1); time.sleep(3600)"),
    "exits": ("crash", "def on_move(m): sys.exit(3)"),
    "is killed": ("crash", "def on_move(m): os.kill(os.getpid(), 9)"),
    "is stopped": ("timeout", "def on_move(m): os.kill(os.getpid(), 19)"),
    "is silent": ("timeout", "def on_move(m): time.sleep(3600)"),
    "writes nonsense": ("malformed", 'def on_move(m): raw(b"x" * 100 + b"\\n"); time.sleep(3600)'),
    "floods": ("flood", 'def on_move(m):\n while True: raw(b"x" * 65536)'),
    "exits at once": ("start", "sys.exit(3)"),
    "exits as Perl does": ("crash", "def on_move(m): sys.exit(255)"),
    "closes stdout at once": ("start", "os.close(1); time.sleep(3600)"),
    "a missing interpreter": ("start", "#!/no/such/interpreter\n"),
    "an interpreter with a carriage return": ("start", "#!/bin/sh\r\necho\r\n"),
    "a folder as interpreter": ("start", "#!/usr\n"),
    "no first line": ("start", "echo hello\n"),
}


@pytest.mark.parametrize("way", FAILURES)
def test_the_kind_of_a_fault_is_the_same_under_every_sandbox(
    way: str, table: RealTable, tmp_path: Path
) -> None:
    kind, body = FAILURES[way]
    if kind == "start" and "(" not in body:
        (tmp_path / "script").mkdir()
        script = tmp_path / "script" / "bot"
        script.write_text(body, newline="")
        script.chmod(0o755)
        table.seat(command=(str(script),), folder=script.parent)
    else:
        table.seat(body)
    table.seat()
    found = {}
    for sandbox in ("limits", *(finding.name for finding in probe() if finding.works)):
        launcher = choose(sandbox, trusted=True)  # type: ignore[arg-type] - a name of theirs
        found[sandbox] = only_fault(table.play(launcher=launcher, move_ms=2000)).kind
    assert found == dict.fromkeys(found, kind)
