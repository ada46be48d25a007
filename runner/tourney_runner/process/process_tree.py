"""Ending whole process trees, also the parts that tried to get away.

A process that leaves its session and loses its parent becomes a child of this program, since
every program here that starts bots is a subreaper. So all that a bot leaves behind is found
either below the bot or directly below us.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.procfs import (
    children,
    state_and_session,
    system_call_filters,
    user,
    user_namespace,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

__all__ = [
    "MARK",
    "Origin",
    "descendants",
    "end_confined_strays",
    "end_left_by",
    "end_orphans",
    "end_started",
    "end_tree",
    "end_unknown_children",
    "freeze",
    "orphans",
    "reap",
    "thaw",
]

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


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def freeze(processes: Callable[[], list[int]]) -> None:
    """Stop a tree of processes, walking it again until nothing in it is new.

    Args:
        processes: Gives the ids of all that are in the tree now.
    """
    seen: set[int] = set()
    for _ in range(_ROUNDS):
        new = [pid for pid in processes() if pid not in seen]
        if not new:
            return
        for pid in new:
            _signal(pid, signal.SIGSTOP)
        seen.update(new)


def thaw(pids: list[int]) -> None:
    """Let stopped processes go on, the lowest in the tree first."""
    for pid in reversed(pids):
        _signal(pid, signal.SIGCONT)


def end_tree(pid: int) -> list[int]:
    """Kill a session leader with its group and every descendant; reaping is the caller's.

    A tree that forks while it is being killed is walked again until it stands still. It is
    stopped first, top down, so that a fork bomb loses the race.

    Returns:
        The descendants, parents before children: once the leader has been collected they are
        this program's to `reap`, in that order.
    """
    _signal(pid, signal.SIGSTOP)
    seen: dict[int, None] = {}  # keeps the order
    for _ in range(_ROUNDS):
        new = [child for child in descendants(pid) if child not in seen]
        if not new:
            break
        for child in new:
            _signal(child, signal.SIGSTOP)
        seen.update(dict.fromkeys(new))
    _kill_group(pid)
    _signal(pid, signal.SIGKILL)
    for child in seen:
        _signal(child, signal.SIGKILL)
    return list(seen)


@dataclass(frozen=True)
class Origin:
    """Signs by which a process is recognised as part of one bot once it has lost its parent.

    The strongest sign that a bot has decides. A process can erase its environment and leave its
    session. It cannot change its user or its user namespace: it has no right to, and the filter of
    system calls refuses it.
    """

    mark: str
    """The value of `MARK` in its environment."""
    session: int
    """The bot's own; a dying process has no environment any more."""
    user: int | None = None
    """The user that nothing else runs as."""
    namespace: int | None = None
    """The inode of the user namespace that nothing else is in."""

    @property
    def is_weak(self) -> bool:
        """Whether a dead process of the bot cannot always be recognised."""
        return self.user is None and self.namespace is None

    def has(self, pid: int) -> bool:
        """Return whether a process is part of the bot."""
        if self.user is not None:
            return user(pid) == self.user
        if self.namespace is not None and (found := user_namespace(pid)) is not None:
            return found == self.namespace
        return _mark(pid) == self.mark or state_and_session(pid)[1] == self.session


def orphans(origin: Origin, alive: AbstractSet[int]) -> list[int]:
    """Return the children of this program that came to it from a bot when they lost their parents.

    Dead ones whose bot is unknown are collected, since some systems count them as processes that
    their bot has.

    Args:
        origin: The bot.
        alive: The processes of bots themselves.
    """
    found = []
    for pid in children(os.getpid()):
        if pid in alive:
            continue
        if origin.has(pid):
            found.append(pid)
        elif origin.is_weak and _is_dead_orphan(pid) and state_and_session(pid)[1] not in alive:
            reap(pid)
    return found


def end_orphans(origin: Origin, alive: AbstractSet[int]) -> None:
    """Kill and collect every child of this program that is left of a bot that has ended.

    Args:
        origin: The bot.
        alive: The processes of bots that have not ended, which are not to be collected here.
    """
    _end_children(origin.has, alive=alive)


def end_confined_strays(alive: AbstractSet[int]) -> None:
    """Kill and collect the children of this program that are confined but are not living bots.

    Args:
        alive: The processes of bots that have not ended.
    """
    own = system_call_filters(os.getpid())
    _end_children(lambda pid: pid not in alive and system_call_filters(pid) > own, alive=alive)


def end_left_by(program: int, alive: AbstractSet[int]) -> None:
    """Kill and collect what is left here of the bots of another program that was killed.

    Unlike `end_unknown_children` it leaves alone what other threads of this program start.

    Args:
        program: The process that had started the bots, once a child of this one.
        alive: Children that have not ended; they are somebody else's to collect.
    """
    _end_children(lambda pid: _mark(pid).partition("-")[0] == str(program), alive=alive)


def end_started() -> None:
    """Kill what this program itself has started as bots and builds; who started it collects it."""
    for pid in children(os.getpid()):
        if _mark(pid).partition("-")[0] == str(os.getpid()):
            end_tree(pid)


def _end_children(is_left: Callable[[int], bool], *, alive: AbstractSet[int]) -> None:
    """Kill and collect some children, and collect all others that are dead.

    A process that forks and exits, over and over, is never where it was last seen: it is over
    only when two looks in a row find the same children and none to be ended.
    """
    before: list[int] = []
    for _ in range(_ROUNDS):
        now = children(os.getpid())
        left = [pid for pid in now if is_left(pid)]
        for pid in left:
            below = end_tree(pid)
            reap(pid, *below)
        if not left and now == before:
            break
        before = now
    for pid in before:
        if pid not in alive and _is_dead_orphan(pid):
            reap(pid)


def _is_dead_orphan(pid: int) -> bool:
    """Whether a child is a zombie that was handed to this program, no matter by which bot.

    What this program starts for itself is in its own session.
    """
    state, session = state_and_session(pid)
    return state == "Z" and session != os.getsid(0)


def _mark(pid: int) -> str:
    """Which bot process this one comes from; empty if none."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return ""
    name = f"{MARK}=".encode()
    return next(
        (
            variable.removeprefix(name).decode(errors="replace")
            for variable in environment.split(b"\0")
            if variable.startswith(name)
        ),
        "",
    )


def reap(*pids: int) -> None:
    """Collect children that have been killed; those that are another's are left to him."""
    for pid in pids:
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
            below = end_tree(pid)
            reap(pid, *below)
    return count
