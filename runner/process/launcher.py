"""Starting a bot: one interface, so that a sandbox is a choice of launcher.

A launcher turns a `Program` into a running `Child`. The plain one here gives every bot a session
of its own, a clean environment, resource limits, a private temporary folder and a signal that
ends it with the worker. It never runs Python code between fork and exec: limits and signal are
set by the small programs ``prlimit`` and ``setpriv`` that the bot is started through.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import count
from typing import IO, TYPE_CHECKING, ClassVar

from runner.process.sweep import (
    MARK,
    descendants,
    end_orphans,
    end_tree,
    freeze,
    orphans,
    reap,
    thaw,
)
from runner.process.system import (
    IS_LINUX,
    has_exited,
    place,
    proportional_bytes,
    resident_bytes,
    tasks,
)
from runner.process.temporary import make_temp, remove_tree

if TYPE_CHECKING:
    from pathlib import Path

    from runner.process.cgroup import Group, Groups

__all__ = [
    "SAFE_PATH",
    "Child",
    "Exit",
    "Launcher",
    "PlainLauncher",
    "Program",
    "ResourceLimits",
    "Rights",
    "clean_environment",
    "detached",
    "next_mark",
]

SAFE_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a bot finds programs."""


@dataclass(frozen=True)
class Rights:
    """What the organiser of a tournament grants one bot beyond its own folder."""

    network: bool = False
    devices: tuple[str, ...] = ()
    """Absolute paths below /dev."""
    data: tuple[str, ...] = ()
    """Absolute paths that may be read."""
    env: tuple[str, ...] = ()
    """Names of variables that are passed on from this program's own environment."""

    def describe(self) -> str:
        """All that was granted, in words; empty if nothing was."""
        parts = ["network"] if self.network else []
        for name in ("devices", "data", "env"):
            values = getattr(self, name)
            if values:
                parts.append(f"{name} {' '.join(values)}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Program:
    """What to start."""

    command: tuple[str, ...]
    """The first word is an absolute path."""
    folder: str
    """The working directory."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables beyond the clean environment."""
    rights: Rights = Rights()
    builds: bool = False
    """A build step, not a bot: it may write to its folder."""


@dataclass(frozen=True)
class ResourceLimits:
    """What one bot may use."""

    memory: int | None = 512 * 1024 * 1024
    """Bytes, for the process and all below it."""
    file_size: int = 64 * 1024 * 1024
    open_files: int = 256
    processes: int = 32
    """Processes and threads at one time."""
    temp_size: int = 64 * 1024 * 1024
    """Bytes of temporary files; only a sandbox can hold a bot to it."""


@dataclass(frozen=True)
class Exit:
    """How a process ended."""

    status: int
    """As `subprocess.Popen.returncode`: minus the number of the signal that ended it."""
    peak_memory: int
    """Bytes of RAM that it had at its largest; 0 where the system does not tell."""
    out_of_memory: bool = False
    """Whether the system ended it since its own memory was used up; only a control group tells."""
    host_out_of_memory: bool = False
    """Whether it did so for want of memory elsewhere, on the machine or for the whole run."""

    def __str__(self) -> str:
        """The ending in plain words, to follow the word *it*."""
        if self.status < 0:
            try:
                name = signal.Signals(-self.status).name
            except ValueError:
                name = "a signal"
            return f"was ended by {name} (signal {-self.status})"
        return f"exited with status {self.status}"


_RSS_UNIT = 1024 if IS_LINUX else 1


_alive: set[int] = set()
"""The processes of all bots of this program that have not been collected."""


@dataclass
class Child:
    """A started bot and its pipes (file descriptors that do not block)."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    mark: str
    temp: Path | None
    most_processes: int | None = field(default=None, kw_only=True)
    """Processes and threads that the tree may have, where the system cannot hold it to that."""
    group: Group | None = field(default=None, kw_only=True)
    """The control group that it is alone in, with all that it starts; None where there is none."""
    exit: Exit | None = field(default=None, init=False)
    collected: int = field(default=0, init=False)
    """Processor time, in nanoseconds, of those of its processes that `processes` has collected."""
    _below: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        _alive.add(self.pid)

    def processes(self) -> list[int]:
        """The bot's own process, all below it and what lost its parent; no wrapper of a sandbox.

        The dead among the latter are collected: a bot may leave behind any number of them.
        """
        tree = [self.pid, *descendants(self.pid)]
        for pid in orphans(self.mark, self.pid, _alive):
            if not self._collect(pid):
                tree += [pid, *descendants(pid)]
        return tree

    def _collect(self, pid: int) -> bool:
        """Collect a process if it is dead; says whether it is gone."""
        try:
            ended, _, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if ended:
            self.collected += int((usage.ru_utime + usage.ru_stime) * 1e9)
        return bool(ended)

    def has_exited(self) -> bool:
        """Whether the bot's own process is over; it stays uncollected, so its id stays ours."""
        return self.exit is not None or has_exited(self.pid)

    def memory(self) -> int:
        """Bytes of RAM of the whole tree; what processes share counts for each of them."""
        return sum(map(resident_bytes, self.processes()))

    def holds_more_than(self, cap: int) -> bool:
        """Whether the whole tree takes up more RAM than so many bytes; what is shared counts once.

        The exact count walks all pages, so it is made only if the quick one is over the cap.
        """
        return self.memory() > cap and sum(map(proportional_bytes, self.processes())) > cap

    def has_too_many_processes(self) -> bool:
        """Whether the tree is over its `most_processes`; threads count as well."""
        most = self.most_processes
        return most is not None and sum(map(tasks, self.processes())) > most

    def wait(self, grace: float) -> bool:
        """Give the process a little time to end by itself; says whether it did.

        Args:
            grace: Seconds.
        """
        until = time.monotonic() + grace
        pause = 0.0005
        while not self.has_exited():
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True

    def freeze(self) -> None:
        """Stop the whole tree until `thaw`."""
        if self.group is not None:
            self.group.freeze()
        else:
            freeze(self.processes)

    def thaw(self) -> None:
        """Let the tree go on."""
        if self.group is not None:
            self.group.thaw()
        else:
            thaw(self.processes())

    def close_input(self) -> None:
        """Tell the bot that nothing more will come."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def kill(self) -> Exit:
        """End the bot and everything it started, at once; may be called again."""
        if self.exit is not None:
            return self.exit
        shortage = None if self.group is None else self.group.out_of_memory()
        if self.group is not None:
            self.group.kill()
        self._end_processes()
        _, status, usage = os.wait4(self.pid, 0)
        _alive.discard(self.pid)
        self.exit = Exit(
            self._exit_status(status),
            _peak_memory(usage),
            out_of_memory=shortage == "bot",
            host_out_of_memory=shortage == "host",
        )
        if self.group is not None:
            self.group.remove()  # which waits for all in it to be dead, so that they are found so
        self._sweep()
        self.close_input()
        os.close(self.stdout)
        os.close(self.stderr)
        if self.temp is not None:
            remove_tree(self.temp)
        return self.exit

    def _end_processes(self) -> None:
        """Kill everything; only the process that was started is left to be collected."""
        self._below = end_tree(self.pid)

    def _exit_status(self, wait_status: int) -> int:
        """The bot's own status, from that of the process that was started."""
        return os.waitstatus_to_exitcode(wait_status)

    def _sweep(self) -> None:
        """Collect what was killed with the bot; kill and collect what got away."""
        reap(*self._below)
        end_orphans(self.mark, self.pid, _alive)


def _peak_memory(usage: resource.struct_rusage) -> int:
    # Linux counts the memory that this program had when it started a process as that process's
    # own, so only a higher peak says anything.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * _RSS_UNIT if usage.ru_maxrss > own else 0


class Launcher(ABC):
    """Starts bots in one particular way.

    Args:
        groups: Gives each bot a control group; None where no groups can be had.
    """

    confines: ClassVar[bool] = False
    """Whether it protects the host and the other bots from malice."""

    def __init__(self, groups: Groups | None = None) -> None:
        self._groups = groups

    @abstractmethod
    def describe(self) -> str:
        """One line on what protects the host, stored with the results."""

    def describe_limits(self, limits: ResourceLimits) -> str:
        """How bots are held to limits: ``processes 32 | memory 512M (rlimit + watchdog)``."""
        watched = () if self.confines else ("watchdog",)
        parts = [f"processes {limits.processes}{self._held_by('pids', *watched)}"]
        if limits.memory is not None:
            by = self._held_by("memory", "rlimit", "watchdog")
            parts.append(f"memory {limits.memory >> 20}M{by}")
        return " | ".join(parts)

    def _held_by(self, controller: str, *means: str) -> str:
        if self._has(controller):
            means = ("cgroup", *means)
        return f" ({' + '.join(means)})" if means else ""

    def _has(self, controller: str) -> bool:
        """Whether the groups of bots have a controller."""
        return self._groups is not None and controller in self._groups.controllers

    def start(self, program: Program, limits: ResourceLimits) -> Child:
        """Start a bot.

        Raises:
            OSError: The program cannot be started at all.
            RunError: What holds it could not be set up, for which the bot is not to blame.
        """
        if self._groups is None:
            return self._start(program, limits, None)
        group = self._groups.make(limits.memory, limits.processes)
        try:
            return self._start(program, limits, group)
        except BaseException:
            group.remove()
            raise

    @abstractmethod
    def _start(self, program: Program, limits: ResourceLimits, group: Group | None) -> Child:
        """See `start`; the bot is in the group before it runs a line of its own."""


_numbers = count(1)


def next_mark() -> str:
    """A name for one bot process that no other process of this machine's runners has.

    It begins with the number of this program and ends with where such numbers count.
    """
    return f"{os.getpid()}-{next(_numbers)}-{place()}"


def clean_environment(program: Program, home: str) -> dict[str, str]:
    """All that a bot sees of an environment.

    Args:
        program: Its own variables and rights count.
        home: Its home and its folder for temporary files.
    """
    granted = {name: os.environ[name] for name in program.rights.env if name in os.environ}
    return {
        "PATH": SAFE_PATH,
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **granted,
        **dict(program.env),
    }


_ENTER = 'echo 0 >"$0"; exec "$@"'
"""Has the shell go into a control group and become what follows; a bot that did not get in is
still held by its limits and the watchdog."""


class PlainLauncher(Launcher):
    """Own session, clean environment, resource limits; no protection against malice.

    Args:
        groups: See `Launcher`.
        limited: Whether the limits that the system can hold a process to are set.
    """

    def __init__(self, groups: Groups | None = None, *, limited: bool = True) -> None:
        super().__init__(groups)
        self._setpriv = shutil.which("setpriv", path="/usr/bin:/bin")
        self._prlimit = shutil.which("prlimit", path="/usr/bin:/bin") if limited else None

    def describe(self) -> str:
        """See `Launcher.describe`."""
        tools = " rlimits" if self._prlimit else ""
        return f"none | own session, clean environment{tools}: no protection against malice"

    def _start(self, program: Program, limits: ResourceLimits, group: Group | None) -> Child:
        mark = next_mark()
        temp = make_temp("bot")
        environment = {**clean_environment(program, str(temp)), MARK: mark}
        try:
            process = subprocess.Popen(
                [*self._wrapper(limits, group), *program.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=program.folder,
                env=environment,
                start_new_session=True,
            )
            return _adopt(process, mark, temp, limits, group)
        except BaseException:
            remove_tree(temp)
            raise

    def _wrapper(self, limits: ResourceLimits, group: Group | None) -> list[str]:
        words: list[str] = []
        if group is not None:
            words += ["/bin/sh", "-c", _ENTER, str(group.entrance)]
        if self._setpriv:
            words += [self._setpriv, "--pdeathsig", "KILL", "--"]
        if self._prlimit:
            words += [self._prlimit, f"--fsize={limits.file_size}", "--core=0"]
            words += [f"--nofile={limits.open_files}"]
            if limits.memory is not None:
                words.append(f"--data={limits.memory}")
            words.append("--")
        return words


def _adopt(
    process: subprocess.Popen[bytes],
    mark: str,
    temp: Path,
    limits: ResourceLimits,
    group: Group | None,
) -> Child:
    """Take over a process and its pipes from `subprocess`, which would wait for it by itself."""
    process.returncode = 0  # collected by `Child`, not by subprocess
    return Child(
        pid=process.pid,
        stdin=detached(process.stdin),
        stdout=detached(process.stdout),
        stderr=detached(process.stderr),
        mark=mark,
        temp=temp,
        most_processes=limits.processes,  # the system counts all processes of a user as one
        group=group,
    )


def detached(stream: IO[bytes] | None) -> int:
    """The pipe of a stream as a descriptor of our own that does not block."""
    if stream is None:
        raise ValueError("all three streams of a bot must be pipes")
    descriptor = os.dup(stream.fileno())
    stream.close()
    os.set_blocking(descriptor, False)
    return descriptor
