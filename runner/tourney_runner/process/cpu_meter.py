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
from typing import TYPE_CHECKING

from tourney_runner.process.procfs import IS_LINUX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.process.cgroup import Group

__all__ = ["CpuMeter", "GroupMeter", "TreeMeter", "group_meter", "tree_meter"]

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTES = 128
"""The size of ``struct perf_event_attr`` in bytes."""
_SOFTWARE, _TASK_CLOCK = 1, 1
_INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
"""The clock includes time in the kernel anyway, but asking for it needs a privilege."""
_CLOSE_ON_EXEC = 8


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


def tree_meter(threads: Iterable[int]) -> CpuMeter | None:
    """Return a meter for all threads of a bot, or None if the kernel refuses."""
    try:
        return TreeMeter(threads)
    except OSError:
        return None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
