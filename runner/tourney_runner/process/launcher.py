"""Start bots: the launcher interface, the plain launcher and its limits.

A launcher turns a `Program` into a running `Child`. The plain launcher gives every bot a session
of its own, a clean environment, resource limits, a private temporary folder and a signal that
ends it with the worker. No Python code runs between fork and exec: limits and signal are set by
the small programs ``prlimit`` and ``setpriv``, through which the bot is started.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from abc import ABC, abstractmethod
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tourney_runner.process.child import Child
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.process.process_tree import MARK
from tourney_runner.process.procfs import place
from tourney_runner.process.visible_files import tool_folders

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tourney_runner.process.cgroup import Group, Groups
    from tourney_runner.process.visible_files import View

__all__ = [
    "SAFE_PATH",
    "Launcher",
    "PlainLauncher",
    "Program",
    "ResourceLimits",
    "Rights",
    "Started",
    "clean_environment",
    "next_mark",
    "raise_open_files",
    "rlimits",
    "spawn",
    "tasks_of_user",
]


@dataclass(frozen=True)
class Started:
    """A started process with this program's ends of its pipes (non-blocking).

    The caller collects it.
    """

    pid: int
    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        """Close this program's ends of the pipes."""
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.close(descriptor)


def spawn(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], inherited: tuple[int, ...] = ()
) -> Started:
    """Start a process in its own session.

    Args:
        command: The command. Its first word is a path.
        cwd: The working directory.
        env: The complete environment.
        inherited: Descriptors that it inherits under their numbers, in addition to the pipes.

    Raises:
        OSError: The process cannot be started. No descriptor stays open.
    """
    # Python 3.11.2 (Debian 12) leaves some of the pipes that `subprocess` itself makes open when
    # there are too few descriptors for all of them.
    with ExitStack() as ours, ExitStack() as theirs:
        ends = []
        for writes in (True, False, False):
            reader, writer = os.pipe()
            kept, passed = (writer, reader) if writes else (reader, writer)
            ours.callback(os.close, kept)
            theirs.callback(os.close, passed)
            os.set_blocking(kept, False)
            ends.append((kept, passed))
        (stdin, their_stdin), (stdout, their_stdout), (stderr, their_stderr) = ends
        process = subprocess.Popen(
            command,
            stdin=their_stdin,
            stdout=their_stdout,
            stderr=their_stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=inherited,
        )
        process.returncode = 0  # the caller collects it, and subprocess must not
        ours.pop_all()
    return Started(process.pid, stdin, stdout, stderr)


_OPEN_FILES = 4096
"""The limit of open files that this program requests, for many bots and their meters."""

_NO_CORE = 1
"""A core dump of 1 byte, which is never written. With 0, the kernel would still pass the dump to a
program that collects them (see core(5)), which may keep it."""


def raise_open_files() -> int:
    """Raise this program's limit of open files as far as it needs; return what it is now."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _at_most(_OPEN_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _OPEN_FILES if now == resource.RLIM_INFINITY else now


def rlimits(limits: ResourceLimits, *, processes: int | None = None) -> list[tuple[int, int]]:
    """Return pairs of a ``RLIMIT_*`` and its value, none above this program's own limit.

    Memory is limited as data, not as address space, because node and Java reserve far more
    addresses than they use.

    Args:
        limits: The limits of the bot.
        processes: The maximum number of processes of its user, which exceeds the bot's own limit if
            it shares its user with others; None for no limit.
    """
    wanted = [
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, _NO_CORE),
    ]
    if processes is not None:
        wanted.append((resource.RLIMIT_NPROC, processes))
    if limits.memory is not None:
        wanted.append((resource.RLIMIT_DATA, limits.memory))
    return [(kind, _at_most(value, resource.getrlimit(kind)[1])) for kind, value in wanted]


def tasks_of_user(user: int) -> int:
    """Return the number of a user's processes and threads, as a limit on processes counts them."""
    count = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it ended in the meantime
            if folder.name.isdecimal() and folder.stat().st_uid == user:
                count += len(os.listdir(folder / "task"))  # noqa: PTH208 - only the number
    return count


def _at_most(value: int, ceiling: int) -> int:
    return value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)


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
