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
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import RunError
from tourney_runner.process.access import view_of
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.launcher import Launcher, clean_environment, next_mark
from tourney_runner.process.process_tree import MARK, descendants
from tourney_runner.process.procfs import user_namespace
from tourney_runner.process.rlimits import rlimits, tasks_of_user
from tourney_runner.process.sandbox import landlock_child
from tourney_runner.process.sandbox.fds import Descriptors, memory_file, read_until
from tourney_runner.process.sandbox.landlock_child import BOOT, CONFINED
from tourney_runner.process.sandbox.landlock_rules import SCOPES_SINCE, file_rules, ruleset
from tourney_runner.process.sandbox.probe_result import UnavailableError
from tourney_runner.process.sandbox.sandboxed_child import ConfinedChild, start_for
from tourney_runner.process.sandbox.seccomp import filter_for_this_machine, policy_of
from tourney_runner.process.sandbox.self_test import complaint_of
from tourney_runner.process.sandbox.users import identities, is_root
from tourney_runner.process.spawn import spawn
from tourney_runner.process.temporary_folders import make_temp

if TYPE_CHECKING:
    from types import CodeType

    from tourney_runner.process.cgroup import Group, Groups
    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Program, ResourceLimits

__all__ = ["LandlockLauncher", "open_landlock"]

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
