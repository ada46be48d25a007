"""Ctrl-C and SIGTERM: out soon, in good order, and the way back is shown."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from whole_program import NAP, until

if TYPE_CHECKING:
    from whole_program import Arena

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONG = {"schedule": {"rounds": 2000}}


def _nappers(arena: Arena, *names: str) -> list[dict[str, Any]]:
    return [arena.bot(name, move=NAP) for name in names]


def _send(process: subprocess.Popen[str], number: int) -> None:
    os.kill(process.pid, number)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_an_interrupted_run_shows_where_it_stands_and_how_to_go_on(
    number: signal.Signals, arena: Arena
) -> None:
    config = arena.configure(_nappers(arena, "one", "two"), **LONG)
    process = arena.start("run", config, "--out", "my cup")
    until(lambda: arena.deals("my cup"))
    _send(process, number)
    ended = arena.end(process, 128 + number)
    assert "standings so far" in ended.stdout
    assert {"one", "two"} <= set(ended.stdout.split())
    assert "interrupted" in ended.stderr
    *_, ranking, _, again = ended.stderr.splitlines()
    assert shlex.split(again) == ["tourney", "run", str(config), "--out", "my cup"]
    assert arena.is_clean()
    _, look = ranking.split(": tourney ")
    assert "not complete" in arena.run(*shlex.split(look)).stdout


def test_the_standings_so_far_count_the_deals_of_all_runs(arena: Arena) -> None:
    config = arena.configure(_nappers(arena, "one", "two", "three"), **LONG)
    for runs in (1, 2):
        before = arena.deals()
        process = arena.start("run", config, "--out", "out")
        until(lambda: arena.deals() > 6 * runs + before)  # noqa: B023 - called here
        _send(process, signal.SIGINT)
        shown = arena.end(process, 130).stdout
        table = json.loads(arena.call("standings", "out", "--format", "json").stdout)
        assert table["deals"] > before
        for row in table["entrants"]:
            [line] = [
                line.split() for line in shown.splitlines() if line.split()[:1] == [row["name"]]
            ]
            assert line[1:] == [
                f"{row['mean_place']:.3f}", f"{row['points']:.0f}", str(row["deals"]), "0"
            ]  # fmt: skip


def test_sigint_works_where_the_program_inherited_it_as_ignored(arena: Arena) -> None:
    """Shells start programs in the background like this."""
    config = arena.configure(_nappers(arena, "one", "two"), **LONG)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = arena.start("run", config, "--out", "out")
    finally:
        signal.signal(signal.SIGINT, before)
    until(arena.deals)
    _send(process, signal.SIGINT)
    arena.end(process, 130)
    assert arena.is_clean()


HANGS = {
    "thinks for ever": "while True: pass",
    "sleeps for ever": "time.sleep(3600)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "ignores SIGTERM": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)",
    "has children": (
        "import subprocess\n"
        "nap = [sys.executable, '-c', 'import time; time.sleep(3600)']\n"
        "subprocess.Popen(nap); subprocess.Popen(nap, start_new_session=True)\n"
        "time.sleep(3600)"
    ),
    "writes its folder": (
        "os.makedirs(os.environ['TMPDIR'] + '/locked/inside')\n"
        "os.chmod(os.environ['TMPDIR'] + '/locked', 0)\n"
        "time.sleep(3600)"
    ),
}


def test_nothing_is_left_of_bots_that_hang(arena: Arena) -> None:
    """All of them are asked for a move when the signal comes, each by a worker of its own."""
    told = f"open({str(arena.path / 'asked')!r}, 'a').write('x')"
    bots = [arena.bot(name, move=f"{told}\n{move}") for name, move in HANGS.items()]
    config = arena.configure(bots, time={"start": "60s", "move": "1h"})
    process = arena.start("run", config, "--out", "out", "--jobs", len(HANGS), "--no-pin")
    asked = arena.path / "asked"
    until(lambda: asked.exists() and asked.stat().st_size == len(HANGS))
    _send(process, signal.SIGTERM)
    ended = arena.end(process, 143)
    assert arena.is_clean()
    assert "Interrupted with 0 of 12 deals played" in ended.stderr


def test_a_second_signal_changes_nothing(arena: Arena) -> None:
    config = arena.configure(_nappers(arena, "one", "two"), **LONG)
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        _send(process, number)
    arena.end(process, None)
    assert process.returncode in {130, 143}
    assert arena.is_clean()


def test_a_build_is_ended_and_nothing_of_it_is_kept(arena: Arena) -> None:
    started = arena.path / "started"
    build = f"touch {shlex.quote(str(started))}; sleep 3600; touch built"
    slow = arena.bot("slow") | {"build": [["sh", "-c", build]]}
    config = arena.configure([slow, arena.bot("one"), arena.bot("two")])
    process = arena.start("run", config, "--out", "out")
    until(started.exists)
    _send(process, signal.SIGINT)
    ended = arena.end(process, 130)
    assert "Interrupted before anything was played" in ended.stderr
    assert not (arena.path / "out").exists()
    assert not list(arena.path.glob("cache/bots/*/bot/built"))
    assert len(list(arena.path.glob("cache/bots/*/complete"))) <= 2
    assert arena.is_clean()


DAEMON = f"env -i setsid sh -c {shlex.quote('exec sleep 3600')} >/dev/null 2>&1 &"
"""Far from its session, its parent and its variables."""


@pytest.mark.parametrize("fails", [False, True], ids=["run", "no run"])
def test_a_daemon_that_a_build_has_left_ends_with_the_run(fails: bool, arena: Arena) -> None:  # noqa: FBT001 - a case
    told = arena.path / "pid"
    build = f"{DAEMON} echo $! > {shlex.quote(str(told))}; sleep 0.2; {'false' if fails else ''}"
    daemon = arena.bot("daemon") | {"build": [["sh", "-c", build]]}
    config = arena.configure([daemon, arena.bot("one")])
    arena.run("run", config, "--out", "out", status=None)
    assert not Path(f"/proc/{told.read_text().strip()}").exists()
    assert arena.is_clean()


def test_what_a_killed_run_has_left_is_removed_by_the_next(arena: Arena) -> None:
    config = arena.configure(_nappers(arena, "one", "two"), **LONG)
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    for pid in (process.pid, *arena.workers()):
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not arena.processes())
    assert list(arena.temp.iterdir())
    arena.run("run", arena.configure([arena.bot("three"), arena.bot("four")]), "--out", "other")
    assert arena.is_clean()


def test_a_signal_while_bots_are_checked_leaves_no_trace(arena: Arena) -> None:
    asked = arena.path / "asked"
    slow = arena.bot("slow", first=f"open({str(asked)!r}, 'w'); time.sleep(3600)")
    process = arena.start("run", arena.configure([slow, arena.bot("one")]), "--out", "out")
    until(asked.exists)
    _send(process, signal.SIGTERM)
    arena.end(process, 143)
    assert not (arena.path / "out").exists()
    assert arena.is_clean()


def test_ctrl_c_while_the_program_is_being_loaded_gives_no_traceback(arena: Arena) -> None:
    process = arena.start("run", arena.configure([]), "--out", "out")
    loaded = Path(f"/proc/{process.pid}/maps")
    until(lambda: "pydantic_core" in loaded.read_text())  # of the configuration's modules
    _send(process, signal.SIGINT)
    ended = arena.end(process, None)
    if ended.status != 2:  # it had not come to the end of the empty configuration by then
        assert ended.stderr == ""
        assert ended.status in {130, -signal.SIGINT}


INTERRUPTED = """
import signal, sys
from tourney_runner.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it

def look(frame, event, argument):
    if frame.f_code.co_name == "{function}":
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

sys.setprofile(look)
main()
"""
"""The program, with a Ctrl-C at the moment when a function is called."""


@pytest.mark.parametrize("function", ["run_app", "_built"])
def test_ctrl_c_before_a_command_has_begun_gives_no_traceback(function: str, arena: Arena) -> None:
    """While the program makes itself ready, and while it builds the command."""
    code = INTERRUPTED.format(function=function)
    command = [sys.executable, "-c", code, "games"]
    ended = subprocess.run(
        command, env=arena.environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


DISTURBANCES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "SIGSTOP")


def _disturb(arena: Arena, process: subprocess.Popen[str], chance: random.Random) -> str:
    """After a random while, send a random signal to the runner or a worker; return which."""
    time.sleep(chance.uniform(0, 2) ** 2)
    workers = arena.workers()
    target = chance.choice([process.pid, *workers])
    name = chance.choice(DISTURBANCES)
    with suppress(ProcessLookupError):
        os.kill(target, signal.Signals[name])
        if name == "SIGSTOP":
            time.sleep(chance.uniform(0, 0.5))
            os.kill(target, signal.SIGCONT)
    return f"{name} to {'the runner' if target == process.pid else 'a worker'}"


def test_random_signals_change_no_table_and_leave_nothing(
    arena: Arena, request: pytest.FixtureRequest
) -> None:
    """Each run goes on until a signal ends it; the next continues, until all deals are played."""
    count = 200 if request.config.getoption("--slow") else 5
    chance = random.Random(f"signals {count}")
    config = arena.configure(_nappers(arena, "one", "two", "three"), schedule={"rounds": 8})
    command = ("run", config, "--jobs", 2, "--no-pin", "--out")
    arena.run(*command, "calm")
    sent: list[str] = []
    tournament = 0
    while len(sent) < count:
        process = arena.start(*command, f"out{tournament}")
        while len(sent) < count and process.poll() is None:
            sent.append(_disturb(arena, process, chance))
        ended = arena.end(process, None)
        runner_signals = {-number for number in signal.Signals} | {128 + 2, 128 + 15, 128 + 1}
        assert ended.status in {0, *runner_signals}, (sent, ended)
        if ended.status == 0:
            assert arena.files(f"out{tournament}") == arena.files("calm"), sent
            tournament += 1
    arena.run(*command, f"out{tournament}")
    assert arena.files(f"out{tournament}") == arena.files("calm"), sent
    assert arena.is_clean(), sent


PAUSES_ONCE = """
try: os.rename({armed!r}, {fired!r})
except OSError: pass
else:
    with open({told!r} + "~", "w") as file: file.write(str(os.getpid()))
    os.rename({told!r} + "~", {told!r})
    time.sleep(3600)
"""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGKILL, id="SIGKILL"),
        pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.slow),
    ],
)
def test_a_bot_killed_from_outside_has_one_fault_and_nothing_else_changes(
    number: signal.Signals, arena: Arena
) -> None:
    armed, fired, told = (arena.path / name for name in ("armed", "fired", "told"))
    move = PAUSES_ONCE.format(armed=str(armed), fired=str(fired), told=str(told))
    bots = [arena.bot("victim", move=move), arena.bot("one"), arena.bot("two")]
    config = arena.configure(bots, schedule={"rounds": 3})
    arena.run("run", config, "--out", "calm", "--jobs", 2, "--no-pin")
    armed.touch()
    process = arena.start("run", config, "--out", "out", "--jobs", 2, "--no-pin")
    until(told.exists)
    os.kill(int(told.read_text()), number)
    arena.end(process)
    faults = {name: row["faults"] for name, row in arena.rows().items()}
    assert faults == {"victim": {"crash": 1}, "one": {}, "two": {}}
    query = "SELECT round, match, deal, moves, places, points FROM deals ORDER BY 1, 2, 3"
    with sqlite3.connect(arena.path / "calm" / "results.sqlite") as db:
        calm = db.execute(query).fetchall()
    with sqlite3.connect(arena.path / "out" / "results.sqlite") as db:
        killed = db.execute(query).fetchall()
    assert sum(one != other for one, other in zip(calm, killed, strict=True)) == 1
    assert arena.is_clean()
