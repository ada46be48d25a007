"""Tests of the clock on a busy host: bots at half their limit, beside programs that hog it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import msgspec
import pytest
from clock_table import HALF, LIMIT_MS, bot, play
from tourney_runner.play.bot import Bot
from tourney_runner.play.faults import HostFailureError
from tourney_runner.process.fair_clock import FairClock
from tourney_runner.process.procfs import become_subreaper

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.results.records import DealRecord

ONE_THREAD = f"def think(): burn({HALF})"

# Hashing lets go of the interpreter's lock, so these really run at the same time.
TWO_THREADS = f"""
def work():
    until = time.thread_time() + {HALF / 2}
    while time.thread_time() < until:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2000)

def think():
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""

A_CHILD = f"""
import os
def think():
    if not (child := os.fork()):
        burn({HALF})
        os._exit(0)
    os.waitpid(child, 0)
"""

JAVA_LIMIT_MS = 3 * LIMIT_MS
JAVA = f"""
import java.io.*;
import java.lang.management.*;
import com.sun.management.OperatingSystemMXBean;

public final class Burner {{
    public static void main(String[] none) throws IOException {{
        OperatingSystemMXBean time =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int turns = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {{
            if (line.contains("\\"type\\":\\"hello\\"")) {{
                System.out.println("{{\\"type\\":\\"ready\\",\\"legal\\":\\"canonical\\"}}");
            }} else if (line.contains("\\"type\\":\\"deal\\"")) {{
                turns = 0;
            }}
            int move = line.indexOf("{{\\"type\\":\\"move\\"");
            if (move < 0) continue;
            if (++turns == 1) {{
                long until = time.getProcessCpuTime() + {JAVA_LIMIT_MS * 500_000}L;
                while (time.getProcessCpuTime() < until) {{ }}
            }}
            int id = line.indexOf("\\"id\\":", move) + 5;
            int first = line.indexOf("\\"legal\\":[{{", move) + 10;
            System.out.println("{{\\"id\\":" + line.substring(id, line.indexOf(',', id)) + ","
                + line.substring(first, line.indexOf('}}', first)) + "}}");
        }}
    }}
}}
"""


@pytest.mark.usefixtures("one_core", "hogs")
@pytest.mark.parametrize(
    "body", [ONE_THREAD, TWO_THREADS, A_CHILD], ids=["one thread", "two threads", "a child"]
)
def test_a_bot_at_half_its_limit_is_never_late_beside_hogs(body: str, tmp_path: Path) -> None:
    bots = [bot(tmp_path, 0, body), bot(tmp_path, 1, body)]
    assert [record.faults for record in play(bots, 2)] == [(), ()]


@pytest.mark.usefixtures("one_core", "hogs")
def test_a_java_bot_at_half_its_limit_is_never_late_beside_hogs(tmp_path: Path) -> None:
    javac, java = shutil.which("javac"), shutil.which("java")
    if javac is None or java is None:
        pytest.skip("no javac here")
    (tmp_path / "Burner.java").write_text(JAVA)
    subprocess.run([javac, "Burner.java"], cwd=tmp_path, check=True)
    command = (java, "-Xmx128m", "-XX:+UseSerialGC", "-cp", ".", "Burner")
    bots = [
        Bot(number=number, name=f"java {number}", command=command, folder=str(tmp_path))
        for number in range(2)
    ]
    (record,) = play(bots, move_ms=JAVA_LIMIT_MS)
    assert record.faults == ()


@pytest.mark.usefixtures("one_core", "hogs")
def test_a_bot_that_sleeps_past_its_limit_is_late_beside_hogs_too(tmp_path: Path) -> None:
    sleeper = bot(tmp_path, 0, f"def think(): time.sleep({3 * LIMIT_MS / 1000})")
    records = play([sleeper, bot(tmp_path, 1, "")])
    (fault,) = records[0].faults
    assert (fault.entrant, fault.kind) == (0, "timeout")


class PatientClock(FairClock):
    """A clock that would wait for an hour if the bot were not seen to sleep."""

    def patience(self, limit: int) -> int:
        del limit
        return 3600 * 10**9


@pytest.mark.parametrize(
    ("body", "what", "kind"),
    [
        ("time.sleep(600)", "start", "start"),
        ("def think(): time.sleep(600)", "move", "timeout"),
    ],
)
def test_a_bot_that_sleeps_is_late_soon_after_its_limit(
    body: str, what: str, kind: str, tmp_path: Path
) -> None:
    limits = {f"{what}_ms": 2000}
    bots = [bot(tmp_path, 0, body), bot(tmp_path, 1, "")]
    records = play(bots, clock=PatientClock(), **{"move_ms": 60_000, **limits})
    (fault,) = records[0].faults
    assert (fault.entrant, fault.kind) == (0, kind)
    longest = max((move.wall for move in records[0].slow), default=0)
    assert longest < 600 * 10**9  # it was not waited for until it woke up


def test_a_bot_that_works_past_its_limit_is_late(tmp_path: Path) -> None:
    worker = bot(tmp_path, 0, f"def think(): burn({3 * LIMIT_MS / 1000})")
    records = play([worker, bot(tmp_path, 1, "")])
    (fault,) = records[0].faults
    assert (fault.entrant, fault.kind) == (0, "timeout")


def test_a_bot_whose_children_work_past_its_limit_is_late(tmp_path: Path) -> None:
    work = f"import time\\nwhile time.process_time() < {3 * LIMIT_MS / 1000}: pass"
    body = f"import subprocess\ndef think(): subprocess.run([sys.executable, '-c', '{work}'])"
    (fault,) = play([bot(tmp_path, 0, body), bot(tmp_path, 1, "")])[0].faults
    assert (fault.entrant, fault.kind) == (0, "timeout")


def stop_for_a_while(pid: int, seconds: float) -> None:
    """Stop a process from outside, as a suspended laptop or a busy hypervisor would."""
    program = (
        f"import os, signal, time; time.sleep(0.3); os.kill({pid}, signal.SIGSTOP);"
        f" time.sleep({seconds}); os.kill({pid}, signal.SIGCONT)"
    )
    helper = subprocess.Popen([sys.executable, "-c", program])
    threading.Thread(target=helper.wait, daemon=True).start()


def test_nobody_is_late_when_the_runner_was_stopped(tmp_path: Path) -> None:
    bots = [bot(tmp_path, number, ONE_THREAD, turns=10) for number in range(2)]
    stop_for_a_while(os.getpid(), 3)
    records = play(bots)
    assert [record.faults for record in records] == [()]


THREAD = """
def forever():
    while True: pass

def after():
    if not hasattr(after, "on"):
        after.on = threading.Thread(target=forever, daemon=True)
        after.on.start()
"""

CHILD = """
import os

def after():
    if not hasattr(after, "on"):
        after.on = os.fork()
        while not after.on: pass
"""

CHILDREN = """
import os

def job():
    if not (child := os.fork()):
        burn(0.03)
        os._exit(0)
    os.waitpid(child, 0)

def after():
    threading.Thread(target=job).start()
"""

ORPHAN = """
import os

def after():
    if not hasattr(after, "on"):
        after.on = os.fork()
        if not after.on:
            os.setsid()
            if os.fork(): os._exit(0)
            while True: pass
        os.wait()
"""

ORPHANS = """
import os

def after():
    if not os.fork():
        if os.fork(): os._exit(0)
        burn(0.02)
        os._exit(0)
    os.wait()
"""


def stopped(records: list[DealRecord]) -> set[int]:
    """The seats whose bots were stopped between their turns."""
    return {note.seat for record in records for note in record.notes if note.kind == "pondered"}


@pytest.mark.parametrize(
    "body",
    [THREAD, CHILD, CHILDREN, ORPHAN, ORPHANS],
    ids=["a thread", "a child", "a child a turn", "an orphan", "an orphan a turn"],
)
def test_thinking_in_an_opponents_time_is_charged_and_stopped(body: str, tmp_path: Path) -> None:
    become_subreaper()  # as every program is that starts bots
    slow = "def think(): time.sleep(0.05)"
    bots = [bot(tmp_path, 0, body, turns=99), bot(tmp_path, 1, slow, turns=99)]
    records = play(bots, move_ms=10_000)
    assert records[0].faults == ()
    assert stopped(records) == {0}


def test_thinking_in_an_opponents_time_may_be_allowed(tmp_path: Path) -> None:
    slow = "def think(): time.sleep(0.05)"
    bots = [bot(tmp_path, 0, THREAD, turns=99), bot(tmp_path, 1, slow, turns=99)]
    records = play(bots, move_ms=10_000, ponder=True)
    assert records[0].faults == ()
    assert stopped(records) == set()


def test_where_the_time_of_a_slow_move_went_is_kept(tmp_path: Path) -> None:
    worker = bot(tmp_path, 0, "def think(): burn(0.4)", turns=1)
    (record,) = play([worker, bot(tmp_path, 1, "")], move_ms=700, bank_ms=60_000)
    slow = [move for move in record.slow if move.seat == record.seating.index(0)]
    assert len(slow) <= 1
    for move in slow:  # beside a busy machine it may have had to wait, but it did work
        assert move.wall > move.cpu // 2 > 0


def test_a_bot_that_never_answers_is_late_although_the_host_stumbles(tmp_path: Path) -> None:
    silent = bot(tmp_path, 0, "def think(): time.sleep(3600)")
    program = (
        "import os, signal, time\n"
        "for _ in range(4):\n"
        "    time.sleep(0.3)\n"
        f"    os.kill({os.getpid()}, signal.SIGSTOP)\n"
        "    time.sleep(0.3)\n"
        f"    os.kill({os.getpid()}, signal.SIGCONT)\n"
    )
    stumbles = subprocess.Popen([sys.executable, "-c", program])
    records = play([silent, bot(tmp_path, 1, "")], move_ms=500)
    stumbles.wait()
    (fault,) = records[0].faults
    assert (fault.entrant, fault.kind) == (0, "timeout")


def test_a_temporary_folder_that_is_gone_is_no_fault_of_a_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(HostFailureError, match="could not be started"):
        play([bot(tmp_path, 0, ""), bot(tmp_path, 1, "")])


def test_a_folder_of_a_bot_that_was_removed_during_the_run_is_no_fault_of_the_bot(
    tmp_path: Path,
) -> None:
    gone = msgspec.structs.replace(bot(tmp_path, 0, ""), folder=str(tmp_path / "gone"))
    with pytest.raises(HostFailureError, match="could not be started"):
        play([gone, bot(tmp_path, 1, "")])
