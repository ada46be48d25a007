"""The same runs with bots that are kept in: no other table, and nothing left behind either."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tourney_runner.process.sandbox import probe
from whole_program import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

    from whole_program import Arena

pytestmark = pytest.mark.skipif(
    not any(finding.works for finding in probe()), reason="no sandbox works on this machine"
)

CHILDREN = """
import subprocess
nap = [sys.executable, "-c", "import time; time.sleep(3600)"]
subprocess.Popen(nap)
subprocess.Popen(nap, start_new_session=True)
"""
HANGS = {
    "thinks for ever": "while True: pass",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "has children": f"{CHILDREN}\ntime.sleep(3600)",
    "writes its folder": (
        "os.makedirs(os.environ['TMPDIR'] + '/locked/inside')\n"
        "os.chmod(os.environ['TMPDIR'] + '/locked', 0)\n"
        "time.sleep(3600)"
    ),
}


def test_the_table_is_the_same_as_without(arena: Arena) -> None:
    bots = [
        arena.bot("one"),
        arena.bot("leaves children", deal=CHILDREN),
        arena.bot("bad", move="if luck // 7 % 9 == 0: sys.exit(1)"),
        arena.bundled("faulty/endless", "endless"),
    ]
    for sandbox in ("auto", "limits"):
        config = arena.configure(bots, sandbox=sandbox)
        arena.run("run", config, "--out", sandbox, "--jobs", 2)
    assert arena.files("auto") == arena.files("limits")
    assert arena.is_clean()


def _terminate(process: Popen[str], _: Arena) -> None:
    os.kill(process.pid, signal.SIGTERM)
    process.wait()


def _kill(process: Popen[str], arena: Arena) -> None:
    """Nobody is there to clean up but those who are left."""
    process.kill()
    process.wait()
    until(arena.is_clean)


def _kill_workers(process: Popen[str], arena: Arena) -> None:
    """The runner goes on with new ones, until it gives up on the match that ends them."""
    while process.poll() is None:
        for worker in arena.workers():
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        time.sleep(0.2)


@pytest.mark.parametrize("end", [_terminate, _kill, _kill_workers])
def test_nothing_is_left_of_bots_that_hang(
    end: Callable[[Popen[str], Arena], None], arena: Arena
) -> None:
    bots = [arena.bot(name, move=move) for name, move in HANGS.items()]
    config = arena.configure(bots, time={"start": "60s", "move": "1h"}, sandbox="auto")
    jobs = len(HANGS)
    process = arena.start("run", config, "--out", "out", "--jobs", jobs, "--no-pin")
    # Two bots at each table, and the first of each is about to hang.
    until(lambda: sum("bot.py" in line for line in arena.processes().values()) >= 2 * jobs)
    time.sleep(0.5)
    end(process, arena)
    process.communicate()
    assert arena.is_clean()
