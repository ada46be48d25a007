"""Start bots: the launcher interface and the plain launcher.

A launcher turns a `Program` into a running `Child`. The plain launcher gives every bot a session
of its own, a clean environment, resource limits, a private temporary folder and a signal that
ends it with the worker. No Python code runs between fork and exec: limits and signal are set by
the small programs ``prlimit`` and ``setpriv``, through which the bot is started.
"""

from __future__ import annotations

import os
import resource
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from tourney_runner.process.child import Child
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.process_tree import MARK
from tourney_runner.process.procfs import place
from tourney_runner.process.rlimits import rlimits
from tourney_runner.process.spawn import spawn
from tourney_runner.process.temporary_folders import make_temp
from tourney_runner.process.visible_files import tool_folders

if TYPE_CHECKING:
    from tourney_runner.process.cgroup import Group, Groups
    from tourney_runner.process.visible_files import View

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
"""The search path of a bot."""


@dataclass(frozen=True)
class Rights:
    """Permissions of one bot beyond its own folder, granted by the organiser of a tournament."""

    network: bool = False
    devices: tuple[str, ...] = ()
    """Absolute paths below /dev."""
    data: tuple[str, ...] = ()
    """Absolute paths that it may read."""
    tools: tuple[str, ...] = ()
    """Absolute paths of folders (or single files) with programs that it may run."""
    env: tuple[str, ...] = ()
    """Names of environment variables that are passed on from this program."""

    def describe(self) -> str:
        """Return everything that was granted, in words; empty if nothing was."""
        parts = ["network"] if self.network else []
        for name in ("devices", "data", "tools", "env"):
            values = getattr(self, name)
            if values:
                parts.append(f"{name} {' '.join(values)}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Program:
    """A program to start."""

    command: tuple[str, ...]
    """The command. Its first word is an absolute path."""
    folder: str
    """The working directory."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables beyond the clean environment."""
    rights: Rights = Rights()
    builds: bool = False
    """Whether it is a build step, which may write to its folder, and not a bot."""


@dataclass(frozen=True)
class ResourceLimits:
    """The resource limits of one bot."""

    memory: int | None = 512 * 1024 * 1024
    """Bytes for the process and all its descendants."""
    file_size: int = 64 * 1024 * 1024
    open_files: int = 256
    processes: int = 32
    """Processes and threads at one time."""
    temp_size: int = 64 * 1024 * 1024
    """Bytes of temporary files. Only a sandbox can enforce this."""


class Launcher(ABC):
    """A way to start bots.

    Args:
        groups: The control groups for bots; None if there are none.
    """

    confines: ClassVar[bool] = False
    """Whether it protects the host and the other bots from malice."""

    def __init__(self, groups: Groups | None = None) -> None:
        self._groups = groups

    @abstractmethod
    def describe(self) -> str:
        """Return a line about the protection of the host, stored with the results."""

    def describe_limits(self, limits: ResourceLimits) -> str:
        """Return how limits are enforced: ``processes 32 | memory 512M (rlimit + watchdog)``."""
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
        """Return whether the groups of bots have a controller."""
        return self._groups is not None and controller in self._groups.controllers

    def start(self, program: Program, limits: ResourceLimits) -> Child:
        """Start a bot.

        Raises:
            OSError: The program cannot be started at all.
            RunError: The protection could not be set up. The bot is not to blame.
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
        """See `start`. The bot must be in the group before it runs its own code."""


_numbers = count(1)


def next_mark() -> str:
    """Return a name for a bot process that is unique among the runners of this machine.

    It starts with this program's process id and ends with the `place` in which the id is valid.
    """
    return f"{os.getpid()}-{next(_numbers)}-{place()}"


def clean_environment(program: Program, home: str, view: View | None = None) -> dict[str, str]:
    """Return the whole environment of a bot.

    Args:
        program: The program, for its variables and rights.
        home: Its home, which is also its folder for temporary files.
        view: The files that a sandbox shows it.
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


_OPTIONS = {
    resource.RLIMIT_CORE: "--core",
    resource.RLIMIT_DATA: "--data",
    resource.RLIMIT_FSIZE: "--fsize",
    resource.RLIMIT_NOFILE: "--nofile",
}
"""Of ``prlimit``."""

_ENTER = 'echo 0 >"$0"; exec "$@"'
"""A shell command that enters a control group and becomes the program that follows. A bot that did
not enter is still held by its limits and the watchdog."""


class PlainLauncher(Launcher):
    """A launcher with a session, a clean environment and limits, without protection against malice.

    Args:
        groups: See `Launcher`.
        limited: Whether to set the limits that the system can enforce for a process.
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
            most_processes=limits.processes,  # the system counts per user, not per bot
            group=group,
        )

    def _wrapper(self, limits: ResourceLimits, group: Group | None) -> list[str]:
        words: list[str] = []
        if group is not None:
            words += ["/bin/sh", "-c", _ENTER, str(group.entrance)]
        if self._setpriv:
            words += [self._setpriv, "--pdeathsig", "KILL", "--"]
        if self._prlimit:
            words.append(self._prlimit)
            words += [f"{_OPTIONS[kind]}={value}" for kind, value in rlimits(limits)]
            words.append("--")
        return words
