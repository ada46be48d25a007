"""Void deals need a host that fails: a bot cannot bring one about by making its threads wait."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from clock_table import HALF, LIMIT_MS, bot, play, settings
from tourney_runner.play.faults import HostFailureError, VoidTwiceError
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.process.fair_clock import FairClock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    from pathlib import Path

SILENT = "def think(): time.sleep(3600)"

CROWD = """
import threading
barrier = threading.Barrier(28)

def crowd():
    while True:
        barrier.wait()
        burn(0.00035)
        time.sleep(0.05)

def think():
    for _ in range(28): threading.Thread(target=crowd, daemon=True).start()
    time.sleep(3600)
"""
"""Threads that wake together wait for each other, together longer than the wall clock runs."""

WAITER = """
import threading

def think():
    for _ in range(24): threading.Thread(target=lambda: burn(3600), daemon=True).start()
    burn(0.01)
    time.sleep(3600)
"""
"""Threads that take the core from each other all the time."""


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("body", [SILENT, CROWD, WAITER], ids=["silent", "crowd", "waiter"])
def test_a_bot_cannot_void_a_deal_by_making_its_threads_wait(body: str, tmp_path: Path) -> None:
    (record,) = play([bot(tmp_path, 0, body), bot(tmp_path, 1, "")])
    (fault,) = record.faults
    assert (fault.entrant, fault.kind) == (0, "timeout")
    assert record.voids == ()


def test_a_bot_that_sleeps_is_late_at_its_limit_and_not_at_the_wall_cap(tmp_path: Path) -> None:
    """Its answer after three limits would have come in time for the wall cap, to be judged late."""
    sleeper = bot(tmp_path, 0, "def think(): time.sleep(3)")
    (record,) = play([sleeper, bot(tmp_path, 1, "")], move_ms=1000)
    (fault,) = record.faults
    assert (fault.entrant, fault.kind) == (0, "timeout")
    assert fault.cause.startswith("no answer within 1 s")


def stumbling(seconds: float) -> subprocess.Popen[bytes]:
    """Stop this process over and over from outside, as a busy hypervisor would."""
    program = (
        "import os, signal, time\n"
        f"until = time.monotonic() + {seconds}\n"
        "while time.monotonic() < until:\n"
        "    time.sleep(0.2)\n"
        f"    os.kill({os.getpid()}, signal.SIGSTOP)\n"
        "    time.sleep(0.2)\n"
        f"    os.kill({os.getpid()}, signal.SIGCONT)\n"
    )
    return subprocess.Popen([sys.executable, "-c", program])


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that is not there, so that no bot can be started."""
    place = tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def test_a_deal_that_is_void_twice_is_left_for_a_time_when_nothing_else_runs(
    tmp_path: Path, away: Path
) -> None:
    bots = [bot(tmp_path, number, "") for number in range(2)]
    tables = Tables(settings(), bots, PlainLauncher(), FairClock(), most_alive=4)
    plan = MatchPlan(0, 0, (0, 1))
    with pytest.raises(VoidTwiceError) as twice:
        list(tables.play(plan, alone=False))
    assert len(twice.value.voids) == 2
    with pytest.raises(HostFailureError):  # it fails for the third time
        list(tables.play(plan, voided=twice.value))
    away.mkdir()
    (record,) = tables.play(plan, voided=twice.value)
    tables.pool.kill()
    assert record.voids == twice.value.voids
    assert record.faults == ()


def test_the_last_play_of_a_deal_counts_although_the_host_stumbles(tmp_path: Path) -> None:
    bots = [bot(tmp_path, 0, SILENT), bot(tmp_path, 1, "")]
    tables = Tables(settings(move_ms=500), bots, PlainLauncher(), FairClock(), most_alive=4)
    host = stumbling(6)
    try:
        voided = VoidTwiceError(0, ("a reason", "another"))
        (record,) = tables.play(MatchPlan(0, 0, (0, 1)), voided=voided)
    finally:
        tables.pool.kill()
        host.wait()
    assert [(fault.entrant, fault.kind) for fault in record.faults] == [(0, "timeout")]
    assert record.voids == voided.voids


@pytest.mark.usefixtures("one_core", "hogs")
def test_a_bot_that_works_for_its_whole_limit_is_not_late_beside_hogs(tmp_path: Path) -> None:
    body = f"def think(): burn({HALF * 1.6})"
    records = play([bot(tmp_path, 0, body), bot(tmp_path, 1, body)], 2)
    assert [record.faults for record in records] == [(), ()], LIMIT_MS
