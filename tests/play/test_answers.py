"""Tests of everything that a bot may write after a request."""

# ruff: noqa: E501 - the cases are tables, one a line where it can be
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from real_table import LIMIT, only_fault
from tourney_runner.results.records import Note

if TYPE_CHECKING:
    from real_table import RealTable

# (what the bot does, its code); each of these must simply work.
GOOD = [
    ("ends lines with CR LF", 'def on_move(m): raw(line(m).replace(b"\\n", b"\\r\\n"))'),
    ("writes blank lines", 'def on_move(m): raw(b"\\n \\t\\r\\n\\n" + line(m) + b"\\n")'),
    ("adds unknown fields", 'def on_move(m): send({"x": [{"id": 1}], **answer(m), "y": None})'),
    ("writes a message type", 'def on_move(m): send({**answer(m), "type": "answer"})'),
    (
        "writes a letter at a time",
        "def on_move(m):\n for i in line(m): raw(bytes([i]))",
    ),
    (
        "pauses in the middle of a line",
        "def on_move(m): raw(line(m)[:9]); time.sleep(0.02); raw(line(m)[9:])",
    ),
    ("pauses before the newline", 'def on_move(m): raw(line(m)[:-1]); time.sleep(0.02); raw(b"\\n")'),
    ("gives its id twice", 'def on_move(m): raw(b\'{"id": -1, \' + line(m)[1:])'),
    ("begins with a byte order mark", 'def on_move(m): raw(b"\\xef\\xbb\\xbf" + line(m))'),
    ("has nulls for what is absent", 'def on_move(m): send({"debug": None, "play": None, **answer(m)})'),
    ("indents nothing but spaces much", 'def on_move(m): raw(line(m).replace(b":", b" " * 999 + b":"))'),
    (
        "adds numbers beyond any type",
        'def on_move(m): raw(b\'{"x": 1e999, "y": \' + b"9" * 5000 + b", " + line(m)[1:])',
    ),
    (
        "nests an unknown field",
        'def on_move(m): raw(b\'{"x": \' + b"[" * 500 + b"]" * 500 + b", " + line(m)[1:])',
    ),
    ("asks for all answers", 'READY["legal"] = "all"'),
    ("writes 900 KB of stray lines once", 'def on_deal(m): raw(b"thinking\\n" * 100_000)'),
    ("writes to stderr", 'def on_move(m): sys.stderr.write("x" * 3_000_000); send(answer(m))'),
    ("closes stderr", "def on_hello(m): os.close(2); send(READY)"),
    ("says ready after stray lines", 'def on_hello(m): raw(b"hi\\n{}\\n[]\\n"); send(READY)'),
    ("says more than ready", 'def on_hello(m): send({"mood": 1, **READY, "name": "n", "version": "2"})'),
]  # fmt: skip


@pytest.mark.parametrize("body", [body for _, body in GOOD], ids=[what for what, _ in GOOD])
def test_a_bot_plays_a_whole_deal_that(table: RealTable, body: str) -> None:
    table.seat(body)
    table.seat()
    (record,) = table.play()
    assert record.faults == ()
    assert sorted(record.places) == [1, 2]


# (what the bot does, its code, the kind of the fault, a part of the cause)
BAD = [
    ("wrong field type", 'def on_move(m): send({"id": m["id"], "pass": 1})', "malformed", "$.pass"),
    ("no action", 'def on_move(m): send({"id": m["id"]})', "malformed", "neither"),
    ("two actions", 'def on_move(m): send({**answer(m), "pass": True})', "malformed", "both"),
    ("no card", 'def on_move(m): send({"id": m["id"], "play": ["1S"]})', "malformed", "not a card"),
    ("no list", 'def on_move(m): send({"id": m["id"], "play": "3S"})', "malformed", "$.play"),
    ("debug is no text", 'def on_move(m): send({**answer(m), "debug": 5})', "malformed", "$.debug"),
    ("id is text", 'def on_move(m): send({**answer(m), "id": str(m["id"])})', "malformed", "is text"),
    ("NaN", 'def on_move(m): send({**answer(m), "x": float("nan")})', "malformed", "NaN"),
    (
        "half a surrogate pair",
        'def on_move(m): send({**answer(m), "debug": "\\ud800"})',
        "malformed",
        "surrogate",
    ),
    ("not his cards", 'def on_move(m): send({"id": m["id"], "play": ["2H", "2D", "2C", "2S"]})', "illegal", "["),
    ("passes as leader", 'def on_move(m): send({"id": m["id"], "pass": True})', "illegal", "["),
    ("a stale answer first", 'def on_move(m): send({"id": 1, "pass": True}); send({"id": m["id"], "play": []})', "malformed", ""),
    ("exits", "def on_move(m): sys.exit(3)", "crash", "exited with status 3"),
    ("exits with no word", "def on_move(m): sys.exit(0)", "crash", "exited with status 0"),
    ("kills itself", "def on_move(m): os.kill(os.getpid(), 9)", "crash", "SIGKILL"),
    ("raises", 'def on_deal(m): raise RuntimeError("oh")', "crash", "exited with status 1"),
    ("exits after ready", "def on_hello(m): send(READY); sys.exit(0)", "crash", "exited with status 0"),
    ("closes stdout", "def on_move(m): os.close(1); time.sleep(60)", "crash", "closed its output"),
    (
        "exits while a child holds its output",
        ("import subprocess\n"
        'def on_move(m): subprocess.Popen([sys.executable, "-SEc", "import time; time.sleep(60)"]); '
        "sys.exit(5)"),
        "crash",
        "exited with status 5",
    ),
    ("floods", 'def on_move(m):\n while True: raw(b"thinking\\n" * 1000)', "flood", "1048576 bytes"),
    ("floods without a newline", 'def on_move(m):\n while True: raw(b"thinking" * 1000)', "flood", "1048576 bytes"),
    ("a line of a megabyte", 'def on_move(m): send({**answer(m), "x": "y" * 1_100_000})', "flood", "1048576 bytes"),
    (
        "memory",
        'def on_move(m):\n hoard = []\n while True: hoard.append(b"x" * 2**24)',
        "memory",
        "200 MiB",
    ),
    (
        "memory in a child",
        # Each keeps to the limit, or an allocation would fail before anybody has looked.
        ("def on_move(m):\n for _ in range(2):\n"
        "  if not os.fork(): hoard = b'x' * (120 << 20); time.sleep(60)\n"
        " time.sleep(60)"),
        "memory",
        "200 MiB",
    ),
    (
        "memory while it chatters to stderr",
        ("def on_move(m):\n hoard = []\n if not os.fork():\n"
        "  while len(hoard) < 150: hoard.append(b'x' * 2**20)\n  time.sleep(60)\n"
        " while len(hoard) < 150: hoard.append(b'x' * 2**20)\n"
        " while True: sys.stderr.write('!\\n' * 100)"),
        "memory",
        "200 MiB",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "kind", "cause"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_a_bot_forfeits_at_once_for(table: RealTable, body: str, kind: str, cause: str) -> None:
    table.seat(body)
    table.seat()
    fault = only_fault(table.play(memory=200 << 20))
    assert fault.kind == kind
    assert cause in fault.cause


# (what the bot does, its code, the kind of the fault, a part of the cause)
LATE = [
    ("says nothing", "def on_move(m): pass", "timeout", "nothing was received"),
    ("is late with a legal answer", "def on_move(m): time.sleep(SLEEP); send(answer(m))", "timeout", ""),
    ("is late with an illegal answer", 'def on_move(m): time.sleep(SLEEP); send({"id": m["id"], "play": ["2H"]})', "timeout", ""),
    ("is late with a malformed answer", 'def on_move(m): time.sleep(SLEEP); send({"id": m["id"]})', "timeout", ""),
    ("begins a line", "def on_move(m): raw(line(m)[:-1])", "timeout", "newline"),
    ("drips a letter at a time", "def on_move(m):\n for i in line(m): time.sleep(0.2); raw(bytes([i]))", "timeout", "newline"),
    ("writes a line that is no JSON", 'def on_move(m): print("I pass", flush=True)', "malformed", "no answer"),
    ("answers without an id", 'def on_move(m): send({"pass": True})', "malformed", "no answer"),
    ("has true for its id", 'def on_move(m): send({**answer(m), "id": True})', "malformed", "no answer"),
    ("has null for its id", 'def on_move(m): send({**answer(m), "id": None})', "malformed", "no answer"),
    ("answers in a list", "def on_move(m): send([answer(m)])", "malformed", "no answer"),
    ("answers with bytes that are not UTF-8", 'def on_move(m): raw(b\'{"id": %d, "play": ["\\xff"]}\\n\' % m["id"])', "malformed", "no answer"),
    ("nests an unknown field too deep", 'def on_move(m): raw(b\'{"x": \' + b"[" * 99999 + b"]" * 99999 + b", " + line(m)[1:])', "malformed", "no answer"),
    ("answers another request", 'def on_move(m): send({**answer(m), "id": m["id"] + 1})', "timeout", "other requests"),
    ("has a huge id", 'def on_move(m): send({**answer(m), "id": 10**400})', "timeout", "other requests"),
    ("prints stray lines for ever", 'def on_move(m):\n while True: time.sleep(0.01); print("hm", flush=True)', "malformed", "no answer"),
    ("answers other requests for ever", 'def on_move(m):\n while True: time.sleep(0.01); send({"id": 1, "pass": True})', "timeout", "other requests"),
    ("chatters to stderr for ever", 'def on_move(m):\n while True: sys.stderr.write("hm" * 1000)', "timeout", "nothing was received"),
    ("prints a line and is late", 'def on_move(m): print("hm", flush=True); time.sleep(SLEEP); send(answer(m))', "malformed", ""),
    ("stops itself", "import signal\ndef on_move(m): os.kill(os.getpid(), signal.SIGSTOP)", "timeout", "nothing was received"),
    ("only says ready again", "def on_move(m): send(READY)", "malformed", "no answer"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "kind", "cause"), [case[1:] for case in LATE], ids=[case[0] for case in LATE]
)
def test_time_runs_out_for_a_bot_that(table: RealTable, body: str, kind: str, cause: str) -> None:
    sleep = 'SLEEP = 0\ndef on_hello(m):\n global SLEEP\n SLEEP = 3 * m["limits"]["move"] / 1000\n'
    table.seat(f"{sleep} send(READY)\n{body}")
    table.seat()
    fault = only_fault(table.play(move_ms=LIMIT))
    assert fault.kind == kind
    assert cause in fault.cause


# (what the bot does, its code, a part of the cause)
FAILED_STARTS = [
    ("exits", "def on_hello(m): sys.exit(4)", "exited with status 4"),
    ("crashes before it reads", "raise SystemExit(7)", "exited with status 7"),
    ("never says ready", "def on_hello(m): pass", "nothing was received"),
    ("says ready late", 'def on_hello(m): time.sleep(3 * m["limits"]["start"] / 1000); send(READY)', "no answer"),
    ("wants no such list", 'READY["legal"] = "some"', "'some'"),
    ("has a number for its name", 'READY["name"] = 5', "$.name"),
    ("says NaN", 'READY["x"] = float("nan")', "NaN"),
    ("says something else", 'READY = {"type": "hello"}', "no answer"),
    ("has no type", 'del READY["type"]', "no answer"),
    ("floods", 'def on_hello(m):\n while True: raw(b"x" * 1000)', "1048576 bytes"),
    ("closes its output", "def on_hello(m): os.close(1); time.sleep(60)", "closed its output"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "cause"), [case[1:] for case in FAILED_STARTS], ids=[case[0] for case in FAILED_STARTS]
)
def test_a_bot_fails_at_its_start_that(table: RealTable, body: str, cause: str) -> None:
    table.seat(body)
    table.seat()
    fault = only_fault(table.play(start_ms=1500))
    assert fault.kind == "start"
    assert cause in fault.cause
    assert fault.request == ""


@pytest.mark.parametrize("program", ["/no/such/program", "/etc/passwd", "/tmp/no\0such"])
def test_a_program_that_cannot_be_run_fails_at_its_start(table: RealTable, program: str) -> None:
    table.seat(command=[program])
    table.seat()
    fault = only_fault(table.play())
    assert fault.kind == "start"
    assert program in fault.cause + fault.stderr or "null byte" in fault.cause


def test_memory_used_up_before_ready_is_a_memory_fault(table: RealTable) -> None:
    table.seat('hoard = []\nwhile True: hoard.append(b"x" * 2**24)')
    table.seat()
    assert only_fault(table.play(memory=200 << 20)).kind == "memory"


def test_a_crash_under_a_small_cap_is_no_memory_fault(table: RealTable) -> None:
    table.seat("def on_move(m): sys.exit(1)")
    table.seat()
    assert only_fault(table.play(memory=32 << 20)).kind == "crash"


@pytest.mark.parametrize("game", ["tienlen", "speahx"])
def test_stale_answers_are_dropped_and_noted(table: RealTable, game: str) -> None:
    table.seat('def on_move(m): send({**answer(m), "id": m["id"] - 1}); send(answer(m))')
    table.seat()
    (record,) = table.play(
        game, rules={"players": 2} | ({"max_turns": 40} if game == "speahx" else {})
    )
    assert record.faults == ()
    assert {(note.seat, note.kind) for note in record.notes} == {(0, "stale")}


def test_the_answer_to_the_last_request_is_not_taken_for_one_to_the_next(table: RealTable) -> None:
    # Every answer is sent twice: the second of them waits in the pipe for the next request.
    table.seat("def on_move(m): raw(line(m) * 2)")
    table.seat()
    (record,) = table.play()
    assert record.faults == ()
    assert {(note.seat, note.kind) for note in record.notes} == {(0, "stale")}


def test_stray_lines_are_noted_and_forgiven(table: RealTable) -> None:
    table.seat(
        'def on_move(m): print("my hand is great", flush=True); send({"note": 1}); send(answer(m))'
    )
    table.seat()
    (record,) = table.play()
    assert record.faults == ()
    assert Note(0, "stray", "not a JSON object: my hand is great") in record.notes
    assert Note(0, "stray", 'an object without an id: {"note": 1}') in record.notes


@pytest.mark.parametrize("stray", ["my hand is great", '{"note": 1}', '{"id": null}'])
def test_stray_lines_are_faults_where_the_rules_are_strict(table: RealTable, stray: str) -> None:
    table.seat(f"def on_move(m): print({stray!r}, flush=True); send(answer(m))")
    table.seat()
    fault = only_fault(table.play(strict=True))
    assert fault.kind == "malformed"
    assert stray in fault.answer


def test_stale_answers_are_no_faults_even_where_the_rules_are_strict(table: RealTable) -> None:
    table.seat('def on_move(m): send({"id": 0, "pass": True}); send(answer(m))')
    table.seat()
    (record,) = table.play(strict=True)
    assert record.faults == ()


def test_stray_lines_before_ready_fail_the_start_where_the_rules_are_strict(
    table: RealTable,
) -> None:
    table.seat('def on_hello(m): print("hello!", flush=True); send(READY)')
    table.seat()
    assert only_fault(table.play(strict=True)).kind == "start"


def test_what_comes_after_an_answer_does_not_matter_to_it(table: RealTable) -> None:
    table.seat('def on_move(m): raw(line(m) + b"and that is that\\n" * 20)')
    table.seat()
    (record,) = table.play()
    assert record.faults == ()


def test_requests_larger_than_a_pipe_reach_a_bot_that_reads_slowly(table: RealTable) -> None:
    # The names of the bots make the message of a deal larger than the pipe.
    table.seat(
        "import io\n"
        "class Slow(io.RawIOBase):\n"
        " def readable(self): return True\n"
        " def readinto(self, b): data = os.read(0, min(len(b), 4096)); b[:len(data)] = data; "
        "time.sleep(0.002); return len(data)\n"
        "sys.stdin = io.TextIOWrapper(io.BufferedReader(Slow(), 4096))"
    )
    table.seat(name="x" * 200_000)
    (record,) = table.play(reveal_names=True)
    assert record.faults == ()


@pytest.mark.parametrize(
    ("body", "kind", "cause"),
    [
        ("time.sleep(60)", "timeout", "nothing was received"),
        ("os.close(0); time.sleep(60)", "timeout", "nothing was received"),
        ("os.close(1); time.sleep(60)", "crash", "closed its output"),
        ("sys.exit(2)", "crash", "exited with status 2"),
        ("while True: print('x' * 1000)", "flood", "1048576 bytes"),
        ("while True: sys.stderr.write('x' * 1000)", "timeout", "nothing was received"),
    ],
    ids=["sleeps", "closes stdin", "closes stdout", "exits", "floods", "chatters"],
)
def test_the_deadline_holds_for_a_bot_that_does_not_read_and(
    table: RealTable, body: str, kind: str, cause: str
) -> None:
    table.seat(f"def on_hello(m):\n send(READY)\n {body}")
    table.seat(name="x" * 200_000)
    fault = only_fault(table.play(reveal_names=True, move_ms=LIMIT))
    assert fault.kind == kind
    assert cause in fault.cause


def test_a_wrong_answer_is_dearer_than_no_time_but_a_late_one_is_late_first(
    table: RealTable,
) -> None:
    # The answer comes while the runner still listens, but after the limit: the bank is 0.
    table.seat('def on_move(m): time.sleep(m["time"]["move"] / 1000); send({"id": m["id"]})')
    table.seat()
    assert only_fault(table.play(move_ms=LIMIT)).kind == "timeout"
