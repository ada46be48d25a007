"""Ending whole process trees, also the parts that tried to get away.

A process that leaves its session and loses its parent becomes a child of this program, since
every program here that starts bots is a subreaper. So all that a bot leaves behind is found
either below the bot or directly below us.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from runner.process.system import children

__all__ = ["MARK", "descendants", "end_tree", "end_unknown_children", "marked_orphans", "reap"]

MARK = "TOURNEY_PROCESS"
"""The environment variable that tells which bot process an orphan came from."""

_ROUNDS = 50


def descendants(pid: int) -> list[int]:
    """All processes below one, parents before children."""
    found: list[int] = []
    queue = [pid]
    while queue:
        below = children(queue.pop())
        found += below
        queue += below
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_tree(pid: int) -> None:
    """Kill a session leader with its group and every descendant; reaping is the caller's.

    A tree that forks while it is being killed is walked again until it stands still. It is
    stopped first, top down, so that a fork bomb loses the race.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)
    seen: set[int] = set()
    for _ in range(_ROUNDS):
        new = [child for child in descendants(pid) if child not in seen]
        if not new:
            break
        for child in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGSTOP)
        seen.update(new)
    _kill_group(pid)
    _kill(pid)
    for child in seen:
        _kill(child)


def marked_orphans(mark: str) -> list[int]:
    """Children of this program whose environment carries the mark of a bot that has ended."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for pid in children(os.getpid()):
        with contextlib.suppress(OSError):
            if needle in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def reap(pid: int) -> None:
    """Collect a child that has been killed."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def end_unknown_children(known: set[int]) -> int:
    """Kill and collect every child of this program that is not in `known`, and all below it.

    Returns:
        How many were found.
    """
    count = 0
    for _ in range(_ROUNDS):
        strays = [pid for pid in children(os.getpid()) if pid not in known]
        if not strays:
            break
        count += len(strays)
        for pid in strays:
            end_tree(pid)
            reap(pid)
    return count
