"""The program that the process tests run as root and as a user: ``tree_driver.py BACKEND [METER]``.

It starts one bot whose processes try to get out of sight, and prints as JSON what was seen of them.
"""

from __future__ import annotations

import json
import os
import select
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.process.cpu_meter import AccountingMeter
from tourney_runner.process.launcher import Launcher, PlainLauncher, Program, ResourceLimits
from tourney_runner.process.procfs import become_subreaper, state_and_session
from tourney_runner.process.sandbox import choose
from tourney_runner.process.sandbox.landlock import LandlockLauncher

if TYPE_CHECKING:
    from tourney_runner.process.child import Child

BOT = """
import os, signal, sys, time

def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass

def end():
    os.write(told, b"%d\\n" % int(time.process_time() * 1e6))
    os._exit(0)

def orphans(left):
    burn(0.015)
    if left and not os.fork(): orphans(left - 1)
    end()

def reaped(left):
    for _ in range(left):
        if not os.fork():
            burn(0.015)
            end()
        time.sleep(0.02)
    end()

heard, told = os.pipe()

def count(work):
    before = time.process_time()
    if not os.fork(): work(20)
    used = [int(listen().readline()) for _ in range(21)]
    return sum(used) / 1e6 + time.process_time() - before

def listen():
    global pipe
    try: return pipe
    except NameError: pipe = os.fdopen(heard)
    return pipe

def answer(text): print(text, flush=True)

answer("ready")
for line in sys.stdin:
    if line == "orphans\\n":
        answer(count(orphans))
    elif line == "reaped\\n":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        answer(count(reaped))
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    elif line == "daemon\\n":
        if not (middle := os.fork()):
            os.setsid()
            if not os.fork():
                code = "import time\\nfor _ in range(6000): time.sleep(0.01)"
                null = os.open("/dev/null", os.O_RDWR)
                for stream in range(3): os.dup2(null, stream)
                os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], {})
            os._exit(0)
        os.waitpid(middle, 0)
        answer("started")
    elif line == "erased\\n":
        import ctypes
        if not (middle := os.fork()):
            os.setsid()
            if not os.fork():
                strings = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
                at = 0
                while strings[at]:
                    ctypes.memset(strings[at], 0, len(ctypes.string_at(strings[at])))
                    at += 1
                os.write(told, b"erased\\n")
                null = os.open("/dev/null", os.O_RDWR)
                for stream in range(3): os.dup2(null, stream)
                for _ in range(6000): time.sleep(0.01)
            os._exit(0)
        os.waitpid(middle, 0)
        answer(listen().readline().strip())
"""
"""Chains of orphans and of children that are reaped by themselves; a daemon that has left its
session, its parent and its environment, and one that has erased its environment in memory."""


def launcher_of(backend: str) -> Launcher:
    if backend == "limits":
        return PlainLauncher()
    if backend == "landlock alone":  # as where ordinary users get no user namespaces
        opened = choose("landlock", trusted=False)
        assert isinstance(opened, LandlockLauncher)
        return opened.without_namespace()
    return choose(backend, trusted=False)  # type: ignore[arg-type]


def ask(child: Child, question: str) -> str:
    os.write(child.stdin, question.encode())
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    answer = b""
    while not answer.endswith(b"\n"):
        assert poll.poll(60_000), (question, answer)
        data = os.read(child.stdout, 4096)
        assert data, os.read(child.stderr, 4096)
        answer += data
    return answer.decode().strip()


def charged(child: Child, question: str) -> dict[str, float | None]:
    """Return a job's processor time by its own count, by the meter, and by /proc."""
    meter = child.meter
    metered = None if meter is None else meter.read()
    before = child.cpu_time(child.processes())
    used = float(ask(child, question))
    now = child.cpu_time(child.processes())
    return {
        "used": used,
        "meter": None if meter is None or metered is None else (meter.read() - metered) / 1e9,
        "proc": (now - before) / 1e9,
    }


def is_gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if state_and_session(pid)[0] in {"", "Z"}:
            return True
        time.sleep(0.01)
    return False


def main() -> None:
    become_subreaper()
    seen: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "bot.py").write_text(BOT)
        program = Program((sys.executable, "-I", "-S", "bot.py"), folder)
        launcher = launcher_of(sys.argv[1])
        child = launcher.start(program, ResourceLimits())
        other = launcher.start(program, ResourceLimits())
        ask(child, "")
        ask(other, "")
        if sys.argv[2:] == ["accounting"]:
            if child.meter is not None:
                child.meter.close()
            child.meter = AccountingMeter(child.processes)
        child.start_meter()
        seen["orphans"] = charged(child, "orphans\n")
        seen["reaped"] = charged(child, "reaped\n")
        before = set(child.processes())
        ask(child, "daemon\n")
        new = set(child.processes()) - before
        seen["daemon is seen"] = len(new)
        ask(child, "erased\n")
        erased = set(child.processes()) - before - new
        seen["erased is seen"] = len(erased)
        seen["daemon is another bot's"] = len(new & set(other.processes()))
        child.freeze()
        time.sleep(0.1)
        seen["states when stopped"] = sorted(state_and_session(pid)[0] for pid in new)
        child.thaw()
        other.kill()
        seen["daemon outlives another bot"] = len(set(child.processes()) & new)
        seen["exit"] = child.kill().status
        seen["daemon is gone"] = all(map(is_gone, new | erased))
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main()
