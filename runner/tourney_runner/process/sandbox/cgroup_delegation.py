"""Control groups for bots, below the group delegated to this program.

The kernel requires that a group which distributes memory has no processes of its own. So all
processes in the delegated group first move to a group below it, and each bot gets one beside that:

    the delegated group
      tourney-runners                 runs, workers, and other processes of the group
      tourney-bot-PLACE-PID-NUMBER    one bot, of the worker with this process id

All runs in one place share this. Each holds a lock as long as it lives, and the last one moves all
processes back. Groups left by a killed program are recognised by its process id.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from tourney_runner.errors import RunError
from tourney_runner.process.cgroup import Groups
from tourney_runner.process.procfs import IS_LINUX
from tourney_runner.process.sandbox.probe_result import UnavailableError

__all__ = ["control_groups"]

_CONTROLLERS = ("memory", "pids")
_RUNNERS = "tourney-runners"
_ROUNDS = 50
_MEMORY, _PROCESSES = 1 << 26, 8
"""The limits of the trial, far more than it needs."""
_UNITS = {".scope", ".service", ".slice"}
_PATIENCE = 10.0
"""Seconds to wait for operations that take hundredths of a second."""

_OWN_GROUP = (
    "start it in a group of its own: "
    "systemd-run --user --scope -p Delegate=yes tourney run FILE (root: without --user)"
)
_CONTAINER = "start the container with --cgroupns=private and a writable /sys/fs/cgroup"
_UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1, or use a newer system"


@cache
def control_groups() -> Groups | UnavailableError:
    """Return the groups that this program can make, or why it cannot. Tried once, with real groups.

    The changes are undone when the program ends.
    """
    if not IS_LINUX:
        return UnavailableError("they exist on Linux only", "run tourney on Linux")
    try:
        return _open()
    except UnavailableError as unavailable:
        return unavailable
    except OSError as error:  # a kernel without control groups
        return UnavailableError(f"control groups cannot be found: {error}", _UNIFIED)


def _open() -> Groups:
    own, remedy = _own_group()
    folder = own.parent if own.name == _RUNNERS else own
    runners = _place_of_runners(folder)
    groups = Groups(folder, _usable(folder, remedy), runners)
    if not _is_writable(folder) or (folder == own and not _is_left_to_us(folder)):
        raise UnavailableError(f"{folder} is not delegated to this program", remedy)
    stay = _Stay(groups, runners)
    try:
        stay.begin()
        _try(groups)
    except (OSError, RunError, subprocess.TimeoutExpired) as error:
        stay.end()
        raise UnavailableError(f"control groups do not work here: {error}", remedy) from error
    atexit.register(stay.end)
    return groups


def _place_of_runners(folder: Path) -> Path:
    """Return the group for runners: the root of all groups, or a group below any other."""
    return folder / _RUNNERS if (folder / "cgroup.type").exists() else folder


def _own_group() -> tuple[Path, str]:
    """Return the folder of the group that this program is in, and how to get a better one."""
    found = re.search(r"^0::(/.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        root, mounted = fields[3:5]
        if found and fields[fields.index("-") + 1] == "cgroup2":
            group = PurePosixPath(found[1])
            if group.is_relative_to(root):
                folder = Path(mounted, group.relative_to(root))
                return folder, _CONTAINER if folder == Path(mounted) else _OWN_GROUP
    raise UnavailableError("there are no control groups of version 2", _UNIFIED)


def _usable(folder: Path, remedy: str) -> tuple[str, ...]:
    there = _words(folder / "cgroup.controllers")
    usable = tuple(name for name in _CONTROLLERS if name in there)
    if usable:
        return usable
    if any(name in _words(Path("/proc/self/cgroup")) for name in _CONTROLLERS):
        raise UnavailableError("memory and pids are controlled by version 1 here", _UNIFIED)
    raise UnavailableError(f"{folder} can hand out neither memory nor pids", remedy)


def _words(file: Path) -> list[str]:
    try:
        return re.split(r"[\s:,]+", file.read_text())
    except OSError:  # the group is not visible in this container
        return []


def _is_writable(folder: Path) -> bool:
    files = (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control")
    return all(os.access(file, os.W_OK) for file in files)


def _is_left_to_us(folder: Path) -> bool:
    """Return whether no manager owns a group. A systemd unit's group needs ``Delegate=yes``."""
    if folder.suffix not in _UNITS:
        return True
    manager = ["--user"] if any(part.startswith("user@") for part in folder.parts) else []
    words = ["systemctl", *manager, "show", "--property=Delegate", "--value", folder.name]
    try:
        asked = subprocess.run(words, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.stdout.strip() == b"yes"


def _members(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "cgroup.procs").read_text().split()]


class _Stay:
    """The use of a delegated group by this program."""

    def __init__(self, groups: Groups, runners: Path) -> None:
        self._groups = groups
        self._folder = groups.folder
        self._runners = runners
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)

    def begin(self) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        if self._runners != self._folder:
            self._runners.mkdir(exist_ok=True)
            _move(self._folder, self._runners)
        self._switch("+")
        self._groups.remove_left_behind()
        self._groups.remove_own()  # left by a killed program with the same process id

    def end(self) -> None:
        """Remove all groups, and undo all changes unless other programs still use the group."""
        with suppress(OSError):
            self._groups.remove_own()
            self._groups.remove_left_behind()
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._runners != self._folder and self._runners.exists():
                self._switch("-")
                _move(self._runners, self._folder)
                self._runners.rmdir()
        os.close(self._lock)

    def _switch(self, sign: str) -> None:
        words = " ".join(f"{sign}{name}" for name in self._groups.controllers)
        (self._folder / "cgroup.subtree_control").write_text(words)


def _move(source: Path, target: Path) -> None:
    """Move all processes from one group to another, including those that enter in the meantime."""
    for _ in range(_ROUNDS):
        members = _members(source)
        if not members:
            return
        for pid in members:
            with suppress(ProcessLookupError):
                (target / "cgroup.procs").write_text(f"{pid}")


def _try(groups: Groups) -> None:
    """Kill a process in a group, as is done with a bot.

    Raises:
        RunError: The kernel cannot kill a whole group.
    """
    group = groups.make(_MEMORY, _PROCESSES)
    if not (group.folder / "cgroup.kill").exists():
        group.remove()
        raise RunError("the kernel cannot end a whole group, which it can from 5.14 on")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        try:
            group.enter(process.pid)
            group.kill()
            process.wait(_PATIENCE)
        finally:
            process.kill()
            group.remove()
