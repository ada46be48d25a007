"""Meters of a bot's processor time, counted by the kernel.

A meter does not miss processes that end between two readings: neither children that are reaped
automatically, nor chains of orphans in which each process starts the next. Without a meter, the
time is added up from ``/proc``, which loses such processes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.procfs import IS_LINUX, is_alive, place, threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tourney_runner.process.cgroup import Group

__all__ = [
    "AccountingMeter",
    "CpuMeter",
    "GroupMeter",
    "TreeMeter",
    "accounting_folder",
    "group_meter",
    "tree_meter",
]

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTES = 128
"""The size of ``struct perf_event_attr`` in bytes."""
_SOFTWARE, _TASK_CLOCK = 1, 1
_INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
"""The clock includes time in the kernel anyway, but asking for it needs a privilege."""
_CLOSE_ON_EXEC = 8
_PASSES = 10
"""The maximum number of searches for processes outside the bot's group. Processes that are started
during a search may escape it."""
_numbers = count(1)
_left: list[Path] = []
"""Groups of closed meters that could not be removed yet, since a process was still dying."""


class CpuMeter(ABC):
    """A meter of the processor time of one bot."""

    @abstractmethod
    def read(self) -> int:
        """Return the nanoseconds so far. Only differences are meaningful."""

    @abstractmethod
    def close(self) -> None:
        """Release the file descriptors of the meter."""


class GroupMeter(CpuMeter):
    """The counter of a control group (version 2), which needs no controller.

    Args:
        group: The bot's own group.

    Raises:
        OSError: The kernel does not count time for the group.
    """

    def __init__(self, group: Group) -> None:
        self._file = os.open(group.folder / "cpu.stat", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> int:
        """See `CpuMeter.read`."""
        return int(os.pread(self._file, 64, 0).split(None, 2)[1]) * 1000

    def close(self) -> None:
        """See `CpuMeter.close`."""
        os.close(self._file)


class TreeMeter(CpuMeter):
    """Counters of threads, inherited by everything they start (see perf_event_open(2)).

    They make every switch between the runner and a bot some tenths of a microsecond slower, so only
    bots that are slow or have children get one.

    Args:
        threads: All threads of the bot.

    Raises:
        OSError: The kernel refuses it, to everyone or to ordinary users, or descriptors are scarce.
    """

    def __init__(self, threads: Iterable[int]) -> None:
        self._files: list[int] = []
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2
        try:
            for thread in threads:
                with suppress(ProcessLookupError):
                    self._files.append(_task_clock(thread, most))
        except OSError:
            self.close()
            raise

    def read(self) -> int:
        """See `CpuMeter.read`."""
        return sum(int.from_bytes(os.read(file, 8), "little") for file in self._files)

    def close(self) -> None:
        """See `CpuMeter.close`."""
        for file in self._files:
            os.close(file)


class AccountingMeter(CpuMeter):
    """The counter of a control group of version 1, for hosts whose kernel refuses `TreeMeter`.

    The group only counts: it is in the hierarchy ``cpuacct``, which may exist beside groups of
    version 2. A bot cannot write there, so it cannot leave the group.

    Args:
        processes: Returns all processes of the bot.

    Raises:
        OSError: There is no such hierarchy, or this program may not write to it.
    """

    def __init__(self, processes: Callable[[], list[int]]) -> None:
        parent = accounting_folder()
        if parent is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        _remove_left_behind(parent)
        self._group = parent / f"{_group_prefix()}{os.getpid()}-{next(_numbers)}"
        self._group.mkdir()
        moved: set[int] = set()
        try:
            for _ in range(_PASSES):
                for pid in (new := set(processes()) - moved):
                    with suppress(ProcessLookupError):
                        (self._group / "cgroup.procs").write_text(f"{pid}")
                moved |= new
                if not new:
                    break
            self._file = os.open(self._group / "cpuacct.usage", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            _left.append(self._group)
            raise

    def read(self) -> int:
        """See `CpuMeter.read`."""
        return int(os.pread(self._file, 32, 0))

    def close(self) -> None:
        """See `CpuMeter.close`."""
        os.close(self._file)
        _left.append(self._group)
        _remove_closed()


@cache
def accounting_folder() -> Path | None:
    """Return this program's own group in the hierarchy ``cpuacct``; None if there is none."""
    try:
        mounts = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
        groups = Path("/proc/self/cgroup").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    for device in (line.split() for line in mounts):
        if device[2] == "cgroup" and "cpuacct" in device[3].split(","):
            found = (line.split(":", 2) for line in groups)
            own = next((path for _, names, path in found if "cpuacct" in names.split(",")), "/")
            root = Path(device[1])
            inside = root / own.lstrip("/")
            return inside if inside.is_dir() else root  # a container may see only its own group
    return None


def _group_prefix() -> str:
    return f"tourney-bot-{place()}-"


def _remove_closed() -> None:
    for group in list(_left):
        with suppress(OSError):  # it is removed later, when all its processes have ended
            group.rmdir()
        if not group.exists():
            _left.remove(group)


def _remove_left_behind(parent: Path) -> None:
    """Remove the groups of closed meters, and those of programs that have ended."""
    _remove_closed()
    for group in parent.glob(f"{_group_prefix()}*-*"):
        pid = group.name.removeprefix(_group_prefix()).partition("-")[0]
        if pid.isdecimal() and not is_alive(int(pid)):
            with suppress(OSError):
                group.rmdir()


def _task_clock(thread: int, most: int) -> int:
    """Return a descriptor that counts the processor time of a thread and all that it starts.

    Args:
        thread: The id of the thread.
        most: The largest descriptor that may be used.
    """
    number = _PERF_EVENT_OPEN.get(os.uname().machine)
    if number is None or not IS_LINUX:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    attributes = bytearray(_ATTRIBUTES)
    struct.pack_into("IIQ", attributes, 0, _SOFTWARE, _ATTRIBUTES, _TASK_CLOCK)
    struct.pack_into("Q", attributes, 40, _INHERIT | _NO_KERNEL | _NO_HYPERVISOR)
    memory = (ctypes.c_char * _ATTRIBUTES).from_buffer(attributes)
    file = int(_libc().syscall(number, memory, thread, -1, -1, _CLOSE_ON_EXEC))
    if file < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    if file > most:
        os.close(file)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return file


def group_meter(group: Group | None) -> CpuMeter | None:
    """Return the meter of a bot's control group, or None without a group or on an old kernel."""
    if group is None:
        return None
    try:
        return GroupMeter(group)
    except OSError:
        return None


def tree_meter(processes: Callable[[], list[int]]) -> CpuMeter | None:
    """Return a meter for all processes of a bot, or None if the kernel refuses every kind.

    Args:
        processes: Returns all processes of the bot.
    """
    with suppress(OSError):
        return TreeMeter(thread for pid in processes() for thread in threads(pid))
    with suppress(OSError):
        return AccountingMeter(processes)
    return None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
