"""Starting a bot: one interface, so that a sandbox is a choice of launcher.

A launcher turns a `Program` into a running `Child`. The plain one here gives every bot a session
of its own, a clean environment, resource limits, a private temporary folder and a signal that
ends it with the worker. It never runs Python code between fork and exec: limits and signal are
set by the small programs ``prlimit`` and ``setpriv`` that the bot is started through.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from tourney_runner.process.access import tool_folders
from tourney_runner.process.child import Child
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.process_tree import MARK
from tourney_runner.process.procfs import place
from tourney_runner.process.spawn import spawn
from tourney_runner.process.temporary_folders import make_temp

if TYPE_CHECKING:
    from tourney_runner.process.access import View
    from tourney_runner.process.cgroup import Group, Groups

__all__ = [
    "SAFE_PATH",
    "Launcher",
    "PlainLauncher",
    "Program",
    "ResourceLimits",
    "Rights",
    "clean_environment",
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
    tools: tuple[str, ...] = ()
    """Absolute paths of folders (or single files) with programs that may be run."""
    env: tuple[str, ...] = ()
    """Names of variables that are passed on from this program's own environment."""

    def describe(self) -> str:
        """All that was granted, in words; empty if nothing was."""
        parts = ["network"] if self.network else []
        for name in ("devices", "data", "tools", "env"):
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


def clean_environment(program: Program, home: str, view: View | None = None) -> dict[str, str]:
    """Return all that a bot sees of an environment.

    Args:
        program: Its own variables and rights count.
        home: Its home and its folder for temporary files.
        view: What a sandbox shows it.
    """
    granted = {name: os.environ[name] for name in program.rights.env if name in os.environ}
    search = view.search if view is not None else tool_folders(program.rights.tools)
    tools = {} if view is None else dict(view.env)
    return {
        "PATH": os.pathsep.join((*search, SAFE_PATH)),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: value.replace("{home}", home) for name, value in tools.items()},
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
            started = spawn(
                [*self._wrapper(limits, group), *program.command],
                cwd=program.folder,
                env=environment,
            )
        except BaseException:
            remove_tree(temp)
            raise
        return Child(
            pid=started.pid,
            stdin=started.stdin,
            stdout=started.stdout,
            stderr=started.stderr,
            mark=mark,
            temp=temp,
            most_processes=limits.processes,  # the system counts all processes of a user as one
            group=group,
        )

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
