"""A clock that does not charge a bot for a busy host.

An answer within its limit by the wall clock is accepted on that alone. Only a later answer is
analysed. It is charged the processor time of the bot's whole tree, or the wall time minus a credit
for waiting, whichever is greater. The credit is the smallest of

- the longest wait of a single thread of the bot, or of the worker, for a core, summed over looks,
- the time that the `Sentinel` saw the host take from the core, which a bot cannot cause, and
- the wall time minus the processor time of the tree.

A cap on the wall time limits the whole.

The system counts processor time and waiting per thread (``/proc/PID/task/TID/schedstat``). Reading
all threads takes tens of microseconds, so it is done only after a move has lasted for one step of
the channel. Waiting before that is not counted, except when the worker itself came back late.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import clock_gettime_ns, monotonic_ns
from typing import TYPE_CHECKING, Literal, NamedTuple

from tourney_runner.process.clock import Charge, Clock, WallClock, Watch
from tourney_runner.process.procfs import (
    IS_LINUX,
    contents,
    process_clock,
    process_cpu_time,
    threads,
)
from tourney_runner.process.sentinel import HostTime, Sentinel

if TYPE_CHECKING:
    from tourney_runner.process.child import Child
    from tourney_runner.process.cpu_meter import CpuMeter

__all__ = ["FairClock", "FairWatch", "make_clock"]

_CAP_FACTOR = 5
_CAP_EXTRA = 2_000_000_000
_HELD_UP = 100_000_000
"""A worker that comes back this late was stopped, suspended or starved, and it is unknown what the
bot could do in the meantime."""
_PAUSE = 50_000_000
"""A worker that comes back this late did not just wait for its turn. Everything beside it may have
been stopped, which some kernels do not count as waiting."""
_SLACK = 1_000_000
"""Processor time that a bot may use after an answer to get back to reading, garbage collection
included."""
_READ_EVERY = 5 * _SLACK
"""The shortest time between two readings of a bot that is not suspected."""
_LOOK_EVERY = 50_000_000
"""The time between two checks for child processes. A check costs as much as two moves, and some
bots play a deal in less than a millisecond."""
_CORES = os.cpu_count() or 1
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_INEXACT = 2 * _TICK
"""The uncertainty of a difference of two readings of busy time, which is counted in ticks."""
_OWN_SHARE = 10
"""The worker may use 1/10 of the time to look at a bot."""


class _Look(NamedTuple):
    """Readings of a tree of processes and of the host at one time, in nanoseconds."""

    at: int
    cpu: int
    """Processor time from ``/proc``."""
    metered: int
    """Processor time from the bot's meter; 0 without one."""
    waiting: dict[int, int]
    """Time that each thread was ready to run but had no core."""
    host: HostTime

    def used_since(self, before: _Look) -> int:
        """Return the processor time since an earlier look.

        The meter and /proc can each miss processes.
        """
        return max(self.cpu - before.cpu, self.metered - before.metered)


def _waiting(processes: list[int]) -> dict[int, int]:
    waiting: dict[int, int] = {}
    for pid in processes:
        for thread in threads(pid):
            with suppress(OSError, ValueError, IndexError):
                counts = contents(f"/proc/{pid}/task/{thread}/schedstat").split()
                waiting[thread] = int(counts[1])
    return waiting


def _longest_wait(before: dict[int, int], after: dict[int, int]) -> int:
    """Return the longest wait of a single thread between two looks, including new threads."""
    return max((value - before.get(thread, 0) for thread, value in after.items()), default=0)


class FairWatch(Watch):
    """The watch of a `FairClock`; see the module.

    Args:
        child: The process.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._meter: CpuMeter | None = None
        """The bot's meter, from the first use on."""
        self._lost_meter = False
        self._unmetered = 0
        """The processor time from ``/proc`` beyond the meter's when the meter was first used."""
        self._clock: int | None = None
        """The processor-time clock of the bot's own process, which is enough for most bots."""
        self._has_children = False
        self._counted = self._counted_at = self._used = 0
        """The last reading of processor time, when it was made, and `used` at that time."""
        self._next_look = 0
        self._sentinel = Sentinel()
        self._asked = -1
        self._first: _Look | None = None
        self._last: _Look | None = None
        """The first and the last look during the current move."""
        self._own = 0
        """The minimum processor time used for this move before the first look."""
        self._late_before = self._late = 0
        """Delays of the worker before the first look and after it."""
        self._waited = 0
        self._held_up = 0
        """The longest delay of the worker that the bot's own work does not explain."""

    def deal(self, now: int, used: int) -> None:
        """See `Watch.deal`."""
        self._look_for_children(now)
        self._count(now, used)

    def check(self, now: int, used: int) -> int:
        """See `Watch.check`."""
        # A reading takes a microsecond or more, so a quick bot is read only now and then. If a bot
        # is not suspected, it is enough to know that since the last reading it used no more than
        # the time for which it was to move.
        could = self._counted + used - self._used + _SLACK
        suspected = self.suspects
        self._look_for_children(now)
        self._count(now, used)
        own = self._counted - could
        if own <= 0:
            return 0
        if suspected:
            return own
        self.suspects = True  # from now on it is read before and after each move
        self.next_check = 0
        return 0

    def answered(self, now: int, used: int) -> None:
        """See `Watch.answered`."""
        self._count(now, used)

    def step(self, asked: int, late: int, latest: int) -> None:
        """See `Watch.step`."""
        self._add_look(asked, late, latest, at_end=False)

    def charge(self, asked: int, wall: int, late: int = 0, latest: int = 0) -> Charge:
        """See `Watch.charge`."""
        first, last = self._add_look(asked, late, latest, at_end=True)
        cpu = self._own + last.used_since(first)
        waiting = max(0, min(self._waited, wall - cpu, self._taken_by_host(first, last)))
        stolen = last.host.stolen - first.host.stolen
        return Charge(wall, max(cpu, wall - waiting), cpu, waiting, self._spoilt(stolen))

    def _add_look(self, asked: int, late: int, latest: int, *, at_end: bool) -> tuple[_Look, _Look]:
        """Look at everything; return the first and the last look during the move."""
        if asked != self._asked:
            self._begin(asked)
        now = self._look()
        before = self._last
        if before is None:
            # The bot may have used the rest between the last reading and the request.
            spare = (asked - self._counted_at) * _CORES
            cpu = self._own = max(0, self._cpu() - self._counted - spare)
            waited = late
            self._first, self._late_before = now, late
        else:
            cpu = now.used_since(before)
            waited = _longest_wait(before.waiting, now.waiting)
            if at_end:  # the bot has answered, and the worker had to wake up and read the answer
                waited += max(late, now.host.own_wait - before.host.own_wait)
                waited += now.host.own - before.host.own
            elif latest >= _PAUSE:
                waited = max(waited, latest)
            waited += now.host.stolen - before.host.stolen
            self._late += late
        self._waited += waited
        self._held_up = max(self._held_up, latest - cpu)
        self._last = now
        return self._first or now, now

    def _begin(self, asked: int) -> None:
        """Reset the counts for a new move."""
        self._asked = asked
        self._first = self._last = None
        self._own = self._late_before = self._late = self._waited = self._held_up = 0

    def _look(self) -> _Look:
        """Read all counters. Counters of ended processes keep their last values."""
        processes = self._child.processes()
        cpu, waiting = self._child.cpu_time(processes), _waiting(processes)
        self._use_meter(cpu)
        if self._last is not None:
            cpu, waiting = max(self._last.cpu, cpu), self._last.waiting | waiting
        metered = 0 if self._meter is None else self._meter.read()
        return _Look(monotonic_ns(), cpu, metered, waiting, self._sentinel.read())

    def _taken_by_host(self, first: _Look, last: _Look) -> int:
        """Return the time that the sentinel saw other programs use the cores."""
        if not self._sentinel.sees_cores:
            return sys.maxsize
        # Looking at the bot takes time of its core as well, but a bot could make the worker read
        # endless output. So only a share of the worker's own time counts against the host.
        own = last.host.own - first.host.own
        own = max(0, own - (last.at - first.at) // _OWN_SHARE)
        used = (last.used_since(first) + own) // self._sentinel.cores
        others = last.host.busy - first.host.busy - used + _INEXACT
        return self._late_before + max(self._late, others)

    def _spoilt(self, stolen: int) -> str:
        if self._held_up >= _HELD_UP:
            return f"the worker was held up for {self._held_up / 1e9:.1f} s"
        if stolen >= _HELD_UP:
            return f"the host gave {stolen / 1e9:.1f} s of this machine's time to others"
        return ""

    def _count(self, now: int, used: int) -> None:
        self._counted, self._counted_at, self._used = self._cpu(), now, used
        self.next_check = 0 if self.suspects else now + _READ_EVERY

    def _look_for_children(self, now: int) -> None:
        """Check from time to time whether the bot has or had children, which could think for it."""
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_EVERY
        processes = self._child.processes()
        if not processes:
            return
        self._clock = process_clock(processes[0])
        total = self._child.cpu_time(processes)
        alone = len(processes) == 1 and total <= process_cpu_time(processes[0]) + _SLACK
        self._has_children = self._has_children or not alone
        self.suspects = self.suspects or self._has_children
        if self._has_children:
            self._use_meter(total)
        if self._meter is not None and total > self._cpu() + _INEXACT:
            self._meter = None  # it lost the bot, which became a program that may not be read
            self._lost_meter = True

    def _use_meter(self, total: int) -> None:
        """Use the bot's meter from now on, if there is one.

        Args:
            total: Its processor time so far, from ``/proc``.
        """
        if self._meter is None and not self._lost_meter:
            self._child.start_meter()
            self._meter = self._child.meter
            self._unmetered = 0 if self._meter is None else total - self._meter.read()

    def _cpu(self) -> int:
        """Return the processor time of the bot, or the last known value once it is gone."""
        if self._meter is not None:
            return self._meter.read() + self._unmetered
        if self._has_children:
            return self._child.cpu_time(self._child.processes())
        if self._clock is None:
            return self._counted
        try:
            return clock_gettime_ns(self._clock)
        except OSError:
            return self._counted


class FairClock(Clock):
    """The clock that charges a bot only for its own time."""

    name = "fair"

    def describe(self) -> str:
        """See `Clock.describe`."""
        return "clock: cpu + run delay"

    def patience(self, limit: int) -> int:
        """See `Clock.patience`."""
        return max(_CAP_FACTOR * limit, limit + _CAP_EXTRA)

    def watch(self, child: Child) -> Watch:
        """See `Clock.watch`."""
        return FairWatch(child)


def make_clock(name: Literal["fair", "wall"]) -> Clock:
    """Return the clock of that name, or the wall clock if the system does not count waiting."""
    if name == "wall":
        return WallClock()
    try:
        counts = IS_LINUX and int(Path("/proc/self/schedstat").read_bytes().split()[0]) > 0
    except (OSError, IndexError, ValueError):
        counts = False
    return FairClock() if counts else WallClock()
