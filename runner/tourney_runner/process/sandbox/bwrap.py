"""Bubblewrap: run a bot in namespaces of its own, with only the host's files that it needs.

An ordinary user's bots are put into a user namespace. Root's are not: bubblewrap makes the mounts
as root, which also reaches private folders, and ``setpriv`` inside then becomes a user that owns
nothing and has no capability. (In a user namespace made by root, the bot would keep root's own
identity on every mount.)
"""

from __future__ import annotations

import os
import re
import resource
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError
from tourney_runner.process.access import view_of
from tourney_runner.process.launcher import Launcher, clean_environment, next_mark, rlimits, spawn
from tourney_runner.process.process_tree import MARK, descendants, reap
from tourney_runner.process.procfs import has_open
from tourney_runner.process.sandbox.probe_result import UnavailableError, complaint_of
from tourney_runner.process.sandbox.sandboxed_child import (
    ConfinedChild,
    Descriptors,
    memory_file,
    read_until,
    start_for,
    two_way_pipe,
)
from tourney_runner.process.sandbox.seccomp import filter_for_this_machine, policy_of
from tourney_runner.process.sandbox.users import identities, is_root, setpriv
from tourney_runner.process.visible_files import system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.process.cgroup import Group, Groups
    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Program, ResourceLimits, Started
    from tourney_runner.process.visible_files import View

__all__ = ["FEATURES", "BwrapLauncher", "Features", "bwrap_options", "open_bwrap"]


_TEMP = "/tmp"  # noqa: S108 - inside, where it is the bot's own
_SHARED_MEMORY = 16 * 1024 * 1024

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
_SESSION = ("--die-with-parent", "--new-session", "--hostname", "bot", "--clearenv")
_NO_RIGHTS = ("--cap-drop", "ALL")
_KERNEL_FILES = (
    *("--proc", "/proc"),
    # The first process belongs to bubblewrap, and is neither counted nor stopped. A bot that runs
    # as the same user could write to its memory.
    *("--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
    # The organiser's keys, by name.
    *("--ro-bind-try", "/dev/null", "/proc/keys"),
    *("--dev", "/dev"),
)
_TO_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


@dataclass(frozen=True)
class Features:
    """Optional features of a bubblewrap release, found by a trial run and not by version."""

    sizes: bool = True
    """``--size`` (0.7): limited temporary space. Without it, there is no temporary space."""
    disable_userns: bool = True
    """``--disable-userns`` (0.8). Without it, only the filter of system calls prevents
    namespaces."""


FEATURES = (
    Features(),
    Features(disable_userns=False),
    Features(sizes=False, disable_userns=False),
)
"""The feature sets of the releases, newest first."""


def bwrap_options(
    program: Program, view: View, limits: ResourceLimits, features: Features, *, as_root: bool
) -> list[str]:
    """Return all options except those that contain descriptors.

    Args:
        program: The program to start.
        view: The files that it needs.
        limits: The limits, for the size of temporary space.
        features: The features of this bubblewrap.
        as_root: Whether bubblewrap runs as root, and so without a user namespace.
    """
    environment = clean_environment(program, _TEMP, view)
    return [
        *_isolation(features, network=program.rights.network, as_root=as_root),
        *(word for pair in environment.items() for word in ("--setenv", *pair)),
        *_system(network=program.rights.network),
        *_KERNEL_FILES,
        *_space("/dev/shm", _SHARED_MEMORY, features),  # noqa: S108 - inside
        *(word for path in program.rights.devices for word in ("--dev-bind", path, path)),
        *("--remount-ro", "/dev"),
        *_space(_TEMP, limits.temp_size, features),
        *_files(view, writable=program.builds),
        *("--remount-ro", "/", "--chdir", view.folder),
    ]


def _isolation(features: Features, *, network: bool, as_root: bool) -> list[str]:
    words = [*_NAMESPACES, *_SESSION, *_NO_RIGHTS]
    if not network:
        words.append("--unshare-net")
    if as_root:
        return [*words, *(word for right in _TO_CHANGE_USER for word in ("--cap-add", right))]
    words.append("--unshare-user")
    return [*words, "--disable-userns"] if features.disable_userns else words


def _system(*, network: bool) -> list[str]:
    parts = system()
    settings = parts.settings + (parts.network_settings if network else ())
    return [
        *(word for path in parts.trees for word in ("--ro-bind", path, path)),
        *(word for place, target in parts.links for word in ("--symlink", target, place)),
        *_folders_above(settings),
        *(word for path in settings for word in ("--ro-bind-try", path, path)),
    ]


def _space(place: str, size: int, features: Features) -> list[str]:
    """Return options for a writable place of limited size, or an empty folder without `sizes`."""
    if not features.sizes:
        return ["--dir", place]
    return ["--perms", "1777", "--size", f"{size}", "--tmpfs", place]


def _files(view: View, *, writable: bool) -> list[str]:
    places = [place for place, _ in view.links]
    return [
        *_folders_above((*places, *view.trees, view.folder)),
        *(word for place, target in view.links for word in ("--symlink", target, place)),
        *(word for path in view.trees for word in ("--ro-bind", path, path)),
        *("--bind" if writable else "--ro-bind", view.folder, view.folder),
    ]


def _folders_above(paths: Iterable[str]) -> list[str]:
    """Return options that make the folders above paths, open to all even if root makes them."""
    above = {
        str(folder): None
        for path in paths
        for folder in reversed(PurePosixPath(path).parents)
        if folder not in (PurePosixPath("/"), PurePosixPath(_TEMP))
    }
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]


_SETUP_SECONDS = 10.0
_ENDING_SECONDS = 2.0
_SHELL_SIGNAL = 128
"""Bubblewrap reports a signal as shells do, as this plus the number of the signal."""

_INSTALL = (
    "install bubblewrap: apt-get install bubblewrap | dnf install bubblewrap | "
    "pacman -S bubblewrap | apk add bubblewrap"
)
_SWITCHES = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "let AppArmor allow user namespaces: give /usr/bin/bwrap a profile that has `userns,`",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "user/max_user_namespaces",
        "0",
        "allow user namespaces: sysctl user.max_user_namespaces=10000",
    ),
)
"""Files below /proc/sys, the value that prevents bubblewrap from working, and the remedy."""


@dataclass
class _BwrapChild(ConfinedChild):
    """A child whose started process is bubblewrap.

    The bot is below the namespace's first process.
    """

    init: int = field(kw_only=True)
    """The id of that first process on the host. When it ends, the kernel ends all the others."""
    init_handle: int = field(kw_only=True)

    def processes(self) -> list[int]:
        return descendants(self.init)

    def has_closed_output(self) -> bool:
        # Bubblewrap itself has the pipe open for as long as the bot lives. Before there is a bot,
        # and when one has been forked or has ended during the look, the next look decides.
        file = os.fstat(self.stdout)
        processes = self.processes()
        if not processes or any(has_open(pid, file) for pid in processes):
            return False
        return self.processes() == processes

    def _parents(self, processes: list[int]) -> list[int]:
        return [self.init, *processes]  # it collects all orphans

    def _end_processes(self) -> None:
        # End the namespace first: a bubblewrap killed during its start would leave it behind.
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.init_handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(self.init_handle, select.POLLIN)
        poll.poll(_ENDING_SECONDS * 1000)
        # Bubblewrap then ends by itself, and its resource usage includes the bot's memory.
        if not self.wait(_ENDING_SECONDS):
            os.kill(self.pid, signal.SIGKILL)

    def _exit_status(self, wait_status: int) -> int:
        status = os.waitstatus_to_exitcode(wait_status)
        by_signal = _SHELL_SIGNAL < status <= _SHELL_SIGNAL + signal.SIGRTMAX
        return _SHELL_SIGNAL - status if by_signal else status

    def _sweep(self) -> None:
        reap(self.init)  # only ours if bubblewrap ended first
        os.close(self.init_handle)
        super()._sweep()


class BwrapLauncher(Launcher):
    """A launcher that starts each bot in its own bubblewrap.

    Args:
        bwrap: The path of the program.
        features: The features of this release.
        groups: See `Launcher`.

    Raises:
        UnavailableError: A required part is missing on this machine.
    """

    confines = True

    def __init__(self, bwrap: str, features: Features, groups: Groups | None = None) -> None:
        super().__init__(groups)
        self._bwrap = bwrap
        self._features = features
        self._filter = filter_for_this_machine()
        self._users = identities()

    def describe(self) -> str:
        """See `Launcher.describe`."""
        temp = "" if self._features.sizes else " | no temporary space"
        return f"sandbox: {_version(self._bwrap)} | files net pids ipc seccomp{temp}"

    def _start(self, program: Program, limits: ResourceLimits, group: Group | None) -> Child:
        view = view_of(program)
        as_root = self._users is not None
        launch = _Launch(
            bwrap=self._bwrap,
            options=bwrap_options(program, view, limits, self._features, as_root=as_root),
            rules=self._filter(policy_of(program, shares_host=False)),
            command=program.command,
            rlimits=rlimits(limits, processes=limits.processes),
            group=group,
        )
        return start_for(self._users, view.folder, builds=program.builds, start=launch.start)


@dataclass(frozen=True)
class _Launch:
    """The settings of one start."""

    bwrap: str
    options: list[str]
    rules: bytes
    command: tuple[str, ...]
    rlimits: list[tuple[int, int]]
    group: Group | None

    def start(self, user: int | None) -> _BwrapChild:
        """Start the program as another user, unless `user` is None."""
        mark = next_mark()
        with Descriptors() as ours, Descriptors() as passed:
            info, report = os.pipe()
            ours.keep(info)
            passed.keep(report)
            gate = ours.keep(two_way_pipe())
            started = self._spawn(user, mark, report, gate)
            passed.close()  # so that its end can be seen
            child = _adopt(started, mark, info, self.group)
            try:
                # Set limits on the namespace's first process, so that it is limited too. Meanwhile
                # bubblewrap waits at the gate before it forks.
                for kind, value in self.rlimits:
                    resource.prlimit(child.init, kind, (value, value))
                if self.group is not None:
                    self.group.enter(child.init)
                os.write(gate, b".")
            except BaseException:
                child.kill()
                raise
        return child

    def _spawn(self, user: int | None, mark: str, report: int, gate: int) -> Started:
        """Start bubblewrap."""
        become = () if user is None else _become(user)
        with Descriptors() as passed:
            rules = passed.keep(memory_file(self.rules))
            words = [*self.options, "--seccomp", f"{rules}"]
            words += ["--info-fd", f"{report}", "--block-fd", f"{gate}"]
            arguments = memory_file(b"".join(os.fsencode(word) + b"\0" for word in words))
            passed.keep(arguments)
            return spawn(
                [self.bwrap, "--args", f"{arguments}", "--", *become, *self.command],
                cwd="/",
                env={MARK: mark},
                inherited=(arguments, rules, report, gate),
            )


def _adopt(started: Started, mark: str, info: int, group: Group | None) -> _BwrapChild:
    """Wait until bubblewrap has reported its namespace's first process; return the child."""
    told = read_until(info, lambda data: b"}" in data, _SETUP_SECONDS)
    found = re.search(rb'"child-pid": (\d+)', told)
    if found is None:
        said = _end(started).decode(errors="replace").strip()
        raise RunError(f"the sandbox could not be set up: {said}")
    init = int(found[1])
    try:
        handle = os.pidfd_open(init)
    except OSError as error:
        os.kill(init, signal.SIGKILL)
        _end(started)
        raise RunError(f"the sandbox could not be set up: {error}") from error
    return _BwrapChild(
        pid=started.pid,
        stdin=started.stdin,
        stdout=started.stdout,
        stderr=started.stderr,
        mark=mark,
        temp=None,
        group=group,
        init=init,
        init_handle=handle,
    )


def _end(started: Started) -> bytes:
    """End a bubblewrap that failed before starting the bot, and return its error output."""
    os.kill(started.pid, signal.SIGKILL)
    complaint = read_until(started.stderr, lambda _: False, _ENDING_SECONDS)
    os.waitpid(started.pid, 0)
    started.close()
    return complaint


def _become(user: int) -> tuple[str, ...]:
    """Return the words of a command that, as root inside, becomes a user without any rights."""
    return (
        *(setpriv(), f"--reuid={user}", f"--regid={user}", "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--"),
    )


@cache
def _version(bwrap: str) -> str:
    """Return the version, such as ``bwrap 0.8.0``."""
    asked = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.strip().replace("bubblewrap", "bwrap")


def open_bwrap(groups: Groups | None) -> Launcher:
    """Return the launcher with the most features that work with this machine's bubblewrap.

    Args:
        groups: See `Launcher`.

    Raises:
        UnavailableError: Bubblewrap is missing or does not work.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise UnavailableError("bubblewrap is not installed", _INSTALL)
    complaint: str | None = None
    for features in FEATURES:
        launcher = BwrapLauncher(bwrap, features, groups)
        complaint = complaint_of(launcher)
        if complaint is None:
            return launcher
    raise UnavailableError(f"bubblewrap does not work here: {complaint}", _remedy())


def _remedy() -> str:
    """Return the remedy for the most likely reason why bubblewrap does not work."""
    if is_root():
        return "give the container the right to mount (--cap-add SYS_ADMIN), or run outside of it"
    for name, bad, remedy in _SWITCHES:
        with suppress(OSError):
            if Path("/proc/sys", name).read_text().strip() == bad:
                return remedy
    return "see whether this container or kernel allows user namespaces to ordinary users"
