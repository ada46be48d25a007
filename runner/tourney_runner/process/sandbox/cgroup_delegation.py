"""Control groups for bots, where the group that this program is in was left to it.

The kernel wants a group that hands out memory to have no processes of its own. So whoever is in
the delegated group steps aside first, into a group below it, and each bot gets one beside that:

    the delegated group
      tourney-runners                 runs, workers, and who else was here
      tourney-bot-PLACE-PID-NUMBER    one bot, of the worker with this number

All runs in one place share this. Each holds a lock as long as it lives, and the last to go moves
everybody back. What a program left that was killed is known by its number, as with `temporary`.
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
"""What the trial may use, far more than it needs."""
_UNITS = {".scope", ".service", ".slice"}
_PATIENCE = 10.0
"""Seconds for what takes hundredths of one."""

_OWN_GROUP = (
    "start it in a group of its own: "
    "systemd-run --user --scope -p Delegate=yes tourney run FILE (root: without --user)"
)
_CONTAINER = "start the container with --cgroupns=private and a writable /sys/fs/cgroup"
_UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1, or use a newer system"


@cache
def control_groups() -> Groups | UnavailableError:
    """Where this program can make groups for bots, or why it cannot; tried once, with real groups.

    What it takes to make them is undone when the program ends.
    """
    if not IS_LINUX:
        return UnavailableError("they exist on Linux only", "run tourney on Linux")
    try:
        return _open()
    except UnavailableError as unavailable:
        return unavailable
    except OSError as error:  # a kernel without any
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
    """Where programs step; in the root of all groups they may stay, and a type tells the others."""
    return folder / _RUNNERS if (folder / "cgroup.type").exists() else folder


def _own_group() -> tuple[Path, str]:
    """The folder of the group that this program is in, and how to get a better one."""
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
    except OSError:  # a group outside of what this container shows
        return []


def _is_writable(folder: Path) -> bool:
    files = (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control")
    return all(os.access(file, os.W_OK) for file in files)


def _is_left_to_us(folder: Path) -> bool:
    """Whether nobody else manages a group: that of a unit is systemd's unless it says otherwise."""
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
        self._groups.remove_own()  # of a program that had this number and was killed

    def end(self) -> None:
        """Leave no group behind, and nothing changed unless others still use it."""
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
    """Move all processes from one group to another, also those that come in meanwhile."""
    for _ in range(_ROUNDS):
        members = _members(source)
        if not members:
            return
        for pid in members:
            with suppress(ProcessLookupError):
                (target / "cgroup.procs").write_text(f"{pid}")


def _try(groups: Groups) -> None:
    """Have a process ended in a group as a bot is.

    Raises:
        RunError: It was not.
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
