"""Evidence that the host gave its time to other programs, from outside the bot.

A bot can make its own threads wait for each other, so their waiting proves nothing about the host.
The sentinel looks at the core itself. It reports two things: for how long the core was busy with
anything but the bot and the worker, and by how much the worker's own short waits came back late. A
bot that keeps the core busy spends processor time, which is charged.

The sentinel is not a thread. The worker waits for answers in steps of 5 ms on the same core, so
each of its waits is a sample, and a second Python thread would make the worker wait for the
interpreter's lock.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns, process_time_ns
from typing import NamedTuple

from tourney_runner.process.procfs import contents

__all__ = ["HostTime", "Sentinel"]

_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_TABLE = "/proc/stat"
_IDLE, _WAITING_FOR_DISK, _STOLEN = 4, 5, 8
"""Fields of a core's line in that table."""


class HostTime(NamedTuple):
    """Readings of the worker's cores so far, in nanoseconds. Only differences are meaningful."""

    busy: int
    """Time that the cores were not idle, averaged over them."""
    own: int
    """Processor time of this program."""
    own_wait: int
    """Time that this thread was ready to run but had no core."""
    stolen: int
    """Time that the hypervisor gave to other machines, averaged over the cores."""


class Sentinel:
    """A reader of the counters of the cores that this program may run on."""

    def __init__(self) -> None:
        has_affinity = hasattr(os, "sched_getaffinity")
        cores = os.sched_getaffinity(0) if has_affinity else range(os.cpu_count() or 1)
        self._names = {f"cpu{core}".encode() for core in cores}
        self.cores = len(self._names)
        """The number of cores."""
        self._sees_cores = _is_of_this_kernel() and self._lines() != []

    @property
    def sees_cores(self) -> bool:
        """Whether `read` counts busy time. If not, there is no evidence for or against the host."""
        return self._sees_cores

    def read(self) -> HostTime:
        """Read all counters. Takes 50 µs on a machine with two cores."""
        lines = self._lines() if self._sees_cores else []
        if not lines:
            return HostTime(0, process_time_ns(), _own_wait(), 0)
        idle = sum(int(line[_IDLE]) + int(line[_WAITING_FOR_DISK]) for line in lines)
        stolen = sum(int(line[_STOLEN]) for line in lines)
        return HostTime(
            monotonic_ns() - idle * _TICK // len(lines),
            process_time_ns(),
            _own_wait(),
            stolen * _TICK // len(lines),
        )

    def _lines(self) -> list[list[bytes]]:
        with suppress(OSError):
            fields = map(bytes.split, contents(_TABLE).splitlines())
            return [line for line in fields if line and line[0] in self._names]
        return []


def _own_wait() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(contents("/proc/thread-self/schedstat").split()[1])
    return 0


def _is_of_this_kernel() -> bool:
    """Return whether the table is the kernel's own.

    Some containers replace it with a file that numbers the cores differently and counts only the
    container's own time.
    """
    with suppress(OSError):
        return Path(_TABLE).stat().st_dev == Path("/proc/self").stat().st_dev
    return False
