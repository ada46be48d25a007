"""Landlock: run a bot among the host's processes, without access to files, sockets and processes.

It needs no package, only a kernel from 5.13 on. Signals to other processes are blocked from 6.12.
There is no temporary space, because the use of a shared disk cannot be limited.

As root, each bot runs as a user of its own. It keeps one capability, which lets it pass through
private folders to the files that Landlock lets it read. Without it, an interpreter below root's
home could not be used.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import struct
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import RunError
from tourney_runner.process.access import view_of
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.process.launcher import (
    Launcher,
    clean_environment,
    next_mark,
    rlimits,
    spawn,
    tasks_of_user,
)
from tourney_runner.process.process_tree import MARK, descendants
from tourney_runner.process.procfs import user_namespace
from tourney_runner.process.sandbox import landlock_child
from tourney_runner.process.sandbox.landlock_child import BOOT, CONFINED
from tourney_runner.process.sandbox.probe_result import UnavailableError, complaint_of
from tourney_runner.process.sandbox.sandboxed_child import (
    ConfinedChild,
    Descriptors,
    memory_file,
    read_until,
    start_for,
)
from tourney_runner.process.sandbox.seccomp import filter_for_this_machine, policy_of
from tourney_runner.process.sandbox.users import identities, is_root
from tourney_runner.process.visible_files import system

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

    from tourney_runner.process.cgroup import Group, Groups
    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Program, ResourceLimits
    from tourney_runner.process.visible_files import View

__all__ = ["SCOPES_SINCE", "LandlockLauncher", "file_rules", "open_landlock", "ruleset"]


SCOPES_SINCE = 6
"""The version of Landlock that blocks signals and abstract sockets to outside processes."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_LATER_RIGHTS = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2

_READ = _READ_FILE | _READ_DIR
_RUN = _READ | _EXECUTE
_USE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV
_OWN = (1 << 16) - 1

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_ABOUT_THE_MACHINE = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version"),
    "/sys/devices/system/cpu",
)
_ABOUT_ITSELF = tuple(  # the whole folder would show the host's connections as well
    f"/proc/self/{name}"
    for name in ("cgroup", "cmdline", "fd", "limits", "maps", "smaps", "stat", "statm", "status")
)


def ruleset(version: int) -> bytes:
    """Return a ``struct landlock_ruleset_attr`` that forbids all access to files that it can.

    The network is left to the filter of system calls, which blocks all of it.
    """
    if version < SCOPES_SINCE:
        return struct.pack("<Q", _known(version))
    return struct.pack("<QQQ", _known(version), 0, _ABSTRACT_SOCKETS | _SIGNALS)


def file_rules(
    version: int, program: Program, view: View, temp: Path | None
) -> list[tuple[str, int]]:
    """Return the exceptions: existing paths, and the rights below each of them.

    Args:
        version: The version of Landlock.
        program: The program, for its rights and for whether it builds.
        view: The files that it needs.
        temp: A folder that it may write to.
    """
    own = [
        *_each(view.trees, _RUN),
        *_each(program.rights.devices, _USE),
        (view.folder, _OWN if program.builds else _RUN),
    ]
    if temp is not None:
        own.append((str(temp), _OWN))
    return [*_of_the_system(version, program.rights.network), *_existing(own, version)]


@cache
def _of_the_system(version: int, network: bool) -> tuple[tuple[str, int], ...]:  # noqa: FBT001 - a key of the cache
    """Return the rules that are the same for all programs. Looked up once."""
    parts = system()
    settings = parts.settings + (parts.network_settings if network else ())
    wanted = [
        *_each(parts.trees, _RUN),
        *_each((*settings, *_ABOUT_THE_MACHINE, *_ABOUT_ITSELF), _READ),
        *_each(_DEVICES, _USE),
    ]
    return tuple(_existing(wanted, version))


def _each(paths: Iterable[str], rights: int) -> list[tuple[str, int]]:
    return [(path, rights) for path in paths]


def _existing(wanted: Iterable[tuple[str, int]], version: int) -> list[tuple[str, int]]:
    return [
        (path, _fitting(path, rights, version)) for path, rights in wanted if Path(path).exists()
    ]


def _fitting(path: str, rights: int, version: int) -> int:
    """Return the rights that this version supports and that fit a path."""
    known = rights & _known(version)
    return known if Path(path).is_dir() else known & _OF_FILES


def _known(version: int) -> int:
    return _FIRST_RIGHTS + sum(right for since, right in _LATER_RIGHTS if version >= since)


_CREATE_RULESET = 444
_ASK_VERSION = 1
_SETUP_SECONDS = 10.0
_NO_FOLDER = "/tmp"  # noqa: S108 - the usual name; the bot cannot write there
_SHARED_FACTOR = 8
"""Headroom for bots that share the user's count of processes, as a multiple of one bot's limit."""
_PYTHON = (os.path.realpath(sys.executable), "-I", "-S", "-c", BOOT)


class LandlockLauncher(Launcher):
    """A launcher whose bots start through a small program that confines itself and becomes the bot.

    Args:
        version: The kernel's version of Landlock.
        groups: See `Launcher`.
        own_namespace: Whether each bot gets a user namespace, in which its processes are counted.

    Raises:
        UnavailableError: A required part is missing on this machine.
    """

    confines = True

    def __init__(self, version: int, groups: Groups | None, *, own_namespace: bool) -> None:
        super().__init__(groups)
        self._version = version
        self._own_namespace = own_namespace
        self._filter = filter_for_this_machine()
        self._users = identities()

    def describe(self) -> str:
        """See `Launcher.describe`."""
        signals = "signals " if self._version >= SCOPES_SINCE else ""
        counted = self._counted or self._has("pids")
        processes = "" if counted else " | processes counted with the user's own"
        kept = f"files net ipc {signals}seccomp"
        return f"sandbox: landlock {self._version} | {kept} | no temporary space{processes}"

    def _start(self, program: Program, limits: ResourceLimits, group: Group | None) -> Child:
        view = view_of(program)
        with ExitStack() as undo:
            temp = None
            if program.builds:
                temp = make_temp("build")
                undo.callback(remove_tree, temp)
            environment = clean_environment(program, str(temp or _NO_FOLDER), view)
            launch = _Launch(
                program=program,
                plan={
                    "parent": os.getpid(),
                    "own_namespace": self._own_namespace,
                    "supervised": not self._tells_bots_apart,
                    "limits": rlimits(limits, processes=self._most_processes(limits)),
                    "ruleset": ruleset(self._version),
                    "rules": file_rules(self._version, program, view, temp),
                    "filter": self._filter(policy_of(program, shares_host=True)),
                },
                environment=environment,
                temp=temp,
                most_processes=None if self._counted else limits.processes,
                group=group,
            )
            child = start_for(self._users, view.folder, builds=program.builds, start=launch.start)
            undo.pop_all()
        return child

    def without_namespace(self) -> LandlockLauncher:
        """Return a launcher for systems where ordinary users get no user namespaces."""
        return LandlockLauncher(self._version, self._groups, own_namespace=False)

    @property
    def _tells_bots_apart(self) -> bool:
        """Return whether orphans can be assigned to bots, so that no bot needs a supervisor."""
        return self._own_namespace or self._users is not None

    @property
    def _counted(self) -> bool:
        """Return whether the system counts the processes of each bot separately."""
        return self._own_namespace or self._users is not None

    def _most_processes(self, limits: ResourceLimits) -> int:
        if self._counted:
            return limits.processes
        return tasks_of_user(os.getuid()) + _SHARED_FACTOR * limits.processes


@dataclass
class _SupervisedChild(ConfinedChild):
    """A child whose started process is a supervisor. Exactly the bot's processes are below it."""

    def processes(self) -> list[int]:
        return descendants(self.pid)

    def _parents(self, processes: list[int]) -> list[int]:
        return [self.pid, *processes]

    def _sweep(self) -> None:
        super()._sweep()
        self._end_confined_strays()  # if the bot killed its supervisor


@dataclass(frozen=True)
class _Launch:
    """The settings of one start."""

    program: Program
    plan: dict[str, Any]
    environment: dict[str, str]
    temp: Path | None
    most_processes: int | None
    """The limit for the watchdog, if the system does not count processes."""
    group: Group | None

    def start(self, user: int | None) -> ConfinedChild:
        """Start the program as another user, unless `user` is None."""
        if self.temp is not None and user is not None:
            os.chown(self.temp, user, user)
        with Descriptors() as ours, Descriptors() as until_entered, Descriptors() as passed:
            failures, report = os.pipe()
            ours.keep(failures)
            passed.keep(report)
            gate, barrier = os.pipe()
            passed.keep(gate)
            until_entered.keep(barrier)
            child = self._spawn(user, report, gate)
            passed.close()  # so that the ends of both can be seen
            self._put_into_group(child)
            until_entered.close()
            answer = read_until(failures, lambda _: False, _SETUP_SECONDS)
        if answer != CONFINED:
            raise _failure(answer, child, self.program.command[0])
        if self.plan["own_namespace"]:
            child.namespace = user_namespace(child.pid)
        return child

    def _spawn(self, user: int | None, report: int, gate: int) -> ConfinedChild:
        """Start the program that confines itself."""
        mark = next_mark()
        plan = {**self.plan, "user": user, "environment": self.environment | {MARK: mark}}
        with Descriptors() as passed:
            content = passed.keep(memory_file(marshal.dumps((_confine(), plan))))
            words = (*_PYTHON, f"{content}", f"{report}", f"{gate}", *self.program.command)
            started = spawn(
                words, cwd=self.program.folder, env={MARK: mark}, inherited=(content, report, gate)
            )
        make = _SupervisedChild if self.plan["supervised"] else ConfinedChild
        return make(
            pid=started.pid,
            stdin=started.stdin,
            stdout=started.stdout,
            stderr=started.stderr,
            mark=mark,
            temp=self.temp,
            most_processes=self.most_processes,
            group=self.group,
            user=user,
        )

    def _put_into_group(self, child: ConfinedChild) -> None:
        """Move the child into its group while the interpreter starts, which takes as long."""
        if self.group is None:
            return
        try:
            self.group.enter(child.pid)
        except BaseException:
            child.kill()
            raise


def _failure(answer: bytes, child: ConfinedChild, program: str) -> OSError | RunError:
    """End a child that did not become the bot, and return the error."""
    said = b""
    with suppress(BlockingIOError):
        said = os.read(child.stderr, 1000)
    child.kill()
    if answer.startswith(CONFINED):
        number = int(answer[len(CONFINED) :])
        return OSError(number, os.strerror(number), program)
    why = (answer or said).decode(errors="replace").strip()
    return RunError(f"the sandbox could not be set up: {why}")


@cache
def _confine() -> CodeType:
    """Return the code of `landlock_child`, compiled for the interpreter that runs this program."""
    return compile(Path(landlock_child.__file__).read_bytes(), landlock_child.__file__, "exec")


def open_landlock(groups: Groups | None) -> Launcher:
    """Return the launcher with the most features that work with this kernel's Landlock.

    Args:
        groups: See `Launcher`.

    Raises:
        UnavailableError: Landlock is missing or does not work.
    """
    version = _version()
    complaint: str | None = None
    for own_namespace in (False,) if is_root() else (True, False):
        launcher = LandlockLauncher(version, groups, own_namespace=own_namespace)
        complaint = complaint_of(launcher)
        if complaint is None:
            return launcher
    raise UnavailableError(
        f"Landlock does not work here: {complaint}", "see whether this container allows its calls"
    )


def _version() -> int:
    """Return the kernel's version of Landlock, from 1 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    if version > 0:
        return int(version)
    if ctypes.get_errno() == errno.EOPNOTSUPP:
        raise UnavailableError(
            "Landlock is not switched on",
            "add landlock to the kernel's boot parameter lsm= (see /sys/kernel/security/lsm)",
        )
    raise UnavailableError("the kernel has no Landlock", "use a kernel from 5.13 on, best 6.12")
