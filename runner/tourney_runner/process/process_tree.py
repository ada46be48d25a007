"""Find, stop and end whole process trees, including processes that tried to escape.

A process that leaves its session and loses its parent becomes a child of this program, because
every program here that starts bots is a subreaper. So everything that a bot leaves behind is
either below the bot or a child of this program.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.folder_tree import remove_left_behind
from tourney_runner.process.procfs import (
    children,
    is_alive,
    place,
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
    "clean_up",
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
"""The environment variable that identifies the bot process from which an orphan came."""

_ROUNDS = 50


def descendants(pid: int) -> list[int]:
    """Return all processes below one, parents before children."""
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
    """Stop a tree of processes, walking it again until it has no new ones.

    Args:
        processes: Returns the ids of all processes in the tree.
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
    """Let stopped processes continue, the lowest in the tree first."""
    for pid in reversed(pids):
        _signal(pid, signal.SIGCONT)


def end_tree(pid: int) -> list[int]:
    """Kill a session leader with its group and every descendant, without reaping it.

    The tree is first stopped, top down, so that a fork bomb loses the race. It is walked again
    until it has no new processes.

    Returns:
        The descendants, parents before children. After collecting the leader, call `reap` with
        them in that order.
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
    """Signs by which a process without a parent is recognised as part of one bot.

    The strongest available sign decides. A process can erase its environment and leave its
    session. It cannot change its user or its user namespace: it has no right to, and the filter of
    system calls refuses it.
    """

    mark: str
    """The value of `MARK` in its environment."""
    session: int
    """The bot's own session. Needed because a dying process no longer has an environment."""
    user: int | None = None
    """The user that only this bot runs as."""
    namespace: int | None = None
    """The inode of the user namespace that only this bot is in."""

    @property
    def is_weak(self) -> bool:
        """Return whether a dead process of the bot may not be recognised."""
        return self.user is None and self.namespace is None

    def has(self, pid: int) -> bool:
        """Return whether a process is part of the bot."""
        if self.user is not None:
            return user(pid) == self.user
        if self.namespace is not None and (found := user_namespace(pid)) is not None:
            return found == self.namespace
        return _mark(pid) == self.mark or state_and_session(pid)[1] == self.session


def orphans(origin: Origin, alive: AbstractSet[int]) -> list[int]:
    """Return the children of this program that are orphans of a bot.

    Dead orphans of unknown bots are collected, because some systems count them as processes of the
    bot.

    Args:
        origin: The bot.
        alive: The main processes of bots.
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
    """Kill and collect every child of this program that is left of an ended bot.

    Args:
        origin: The bot.
        alive: The main processes of running bots, which are not collected here.
    """
    _end_children(origin.has, alive=alive)


def end_confined_strays(alive: AbstractSet[int]) -> None:
    """Kill and collect the confined children of this program that are not running bots.

    Args:
        alive: The main processes of running bots.
    """
    own = system_call_filters(os.getpid())
    _end_children(lambda pid: pid not in alive and system_call_filters(pid) > own, alive=alive)


def end_left_by(program: int, alive: AbstractSet[int]) -> None:
    """Kill and collect what is left here of the bots of another program that was killed.

    Unlike `end_unknown_children`, it leaves alone what other threads of this program start.

    Args:
        program: The process that started the bots, a former child of this one.
        alive: Running children, which are collected elsewhere.
    """
    _end_children(lambda pid: _mark(pid).partition("-")[0] == str(program), alive=alive)


def end_started() -> None:
    """Kill the bots and builds that this program started. Their starters collect them."""
    for pid in children(os.getpid()):
        if _mark(pid).partition("-")[0] == str(os.getpid()):
            end_tree(pid)


def _end_children(is_left: Callable[[int], bool], *, alive: AbstractSet[int]) -> None:
    """Kill and collect some children, and collect all other dead orphans.

    A process that keeps forking and exiting is never where it was last seen. So the loop ends only
    when two looks in a row find the same children and none of them has to be ended.
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
    """Return whether a child is a zombie that this program adopted, from any bot.

    Processes that this program starts for itself are in its own session.
    """
    state, session = state_and_session(pid)
    return state == "Z" and session != os.getsid(0)


def _mark(pid: int) -> str:
    """Return the mark of the bot process that a process comes from; empty if none."""
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
    """Collect children that have been killed, ignoring processes that are not children."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def end_unknown_children(known: set[int]) -> int:
    """Kill and collect every child of this program that is not in `known`, with all descendants.

    Returns:
        The number of children found.
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


_MARKED = re.compile(rf"(?:^|\0){MARK}=(\d+)-\d+-{place()}\0".encode())


def clean_up() -> None:
    """End the bots and remove the folders of programs that are dead. Takes 5 ms."""
    with suppress(OSError), os.scandir("/proc") as entries:  # macOS has no /proc
        for pid in [int(entry.name) for entry in entries if entry.name.isdecimal()]:
            if _is_left(pid):
                end_tree(pid)
    remove_left_behind()


def _is_left(pid: int) -> bool:
    """Return whether a process belongs to a bot whose starter is dead."""
    try:
        found = _MARKED.search(Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:  # it has ended, or belongs to another user
        return False
    return found is not None and not is_alive(int(found[1]))
