"""A clock that does not punish a bot for a busy host.

An answer within its limit by the wall clock is accepted on that alone. Only a later one is looked
into. It is charged the processor time of the bot's whole tree, or the wall time less a credit for
waiting, whichever is more. The credit needs three witnesses and is the smallest of

- the longest wait of a single thread of the bot for a core, or of the worker, summed over looks,
- what the `Sentinel` saw the host take from the core, which a bot cannot bring about, and
- the wall time less the processor time of the tree.

A wall cap bounds the whole.

The system counts processor time and waiting per thread (``/proc/PID/task/TID/schedstat``). Reading
all threads costs tens of microseconds, so it is done only once a move has dragged on for a step of
the channel. What was waited before that is not counted, except where the worker itself came back
late.
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
"""A worker that comes back this late was stopped, suspended or starved, and what the bot could do
in the meantime is unknown."""
_PAUSE = 50_000_000
"""A worker that comes back this late did not merely wait for its turn: all that runs beside it may
have been stopped, which some kernels do not count as waiting."""
_SLACK = 1_000_000
"""What a bot may use after an answer to get back to reading, a collector or a compiler included."""
_READ_EVERY = 5 * _SLACK
"""A bot that is not suspected is read no more often; what it used meanwhile shows all the same."""
_LOOK_EVERY = 50_000_000
"""After so long it is time to see whether a bot has got children: that costs as much as two moves,
and there are bots that play a deal in less than a millisecond."""
_CORES = os.cpu_count() or 1
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_INEXACT = 2 * _TICK
"""The busy time of cores is counted in ticks, so a difference of two readings is this uncertain."""
_OWN_SHARE = 10
"""The worker may use one part in this many of the time to look at a bot."""


class _Look(NamedTuple):
    """Readings of a tree of processes and of the host at one time, in nanoseconds."""

    at: int
    cpu: int
    """Processor time as ``/proc`` shows it."""
    metered: int
    """Processor time as the bot's meter counts it; 0 if it has none."""
    waiting: dict[int, int]
    """Time for which each thread was ready to run and had no core."""
    host: HostTime

    def used_since(self, before: _Look) -> int:
        """Return the processor time between two looks; a meter can lose processes, as can /proc."""
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
    """Return the longest wait of a single thread between two looks, new threads included."""
    return max((value - before.get(thread, 0) for thread, value in after.items()), default=0)


class FairWatch(Watch):
    """See the module.

    Args:
        child: The process.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._meter: CpuMeter | None = None
        """The bot's meter, from the first use on."""
        self._lost_meter = False
        self._unmetered = 0
        """By how much more ``/proc`` showed than the meter then."""
        self._clock: int | None = None
        """The processor-time clock of the bot's own process, which is all there is of most."""
        self._has_children = False
        self._counted = self._counted_at = self._used = 0
        """Processor time when it was last read, when that was, and what it had been to move."""
        self._next_look = 0
        self._sentinel = Sentinel()
        self._asked = -1
        self._first: _Look | None = None
        self._last: _Look | None = None
        """The first and the last look during the present move."""
        self._own = 0
        """Processor time that the bot used for this move before the first look at the least."""
        self._late_before = self._late = 0
        """Delays of the worker before the first look and after it."""
        self._waited = 0
        self._held_up = 0
        """The longest delay of the worker for which the bot's own work is no reason."""

    def deal(self, now: int, used: int) -> None:
        """See `Watch.deal`."""
        self._look_for_children(now)
        self._count(now, used)

    def check(self, now: int, used: int) -> int:
        """See `Watch.check`."""
        # A reading takes a microsecond or more, so one that is quick is read only now and then; of
        # one that is not suspected it is enough to know that since it was read last it used no more
        # than the time for which it was to move.
        could = self._counted + used - self._used + _SLACK
        suspected = self.suspects
        self._look_for_children(now)
        self._count(now, used)
        own = self._counted - could
        if own <= 0:
            return 0
        if suspected:
            return own
        self.suspects = True  # and from now on it is read at both ends of a move
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
            # The bot can have used the rest between the last reading and the request.
            spare = (asked - self._counted_at) * _CORES
            cpu = self._own = max(0, self._cpu() - self._counted - spare)
            waited = late
            self._first, self._late_before = now, late
        else:
            cpu = now.used_since(before)
            waited = _longest_wait(before.waiting, now.waiting)
            if at_end:  # the bot has answered, and the worker had to come and read it
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
        """Forget another move."""
        self._asked = asked
        self._first = self._last = None
        self._own = self._late_before = self._late = self._waited = self._held_up = 0

    def _look(self) -> _Look:
        """Read all counts; those of what has ended stay as they were last seen."""
        processes = self._child.processes()
        cpu, waiting = self._child.cpu_time(processes), _waiting(processes)
        self._use_meter(processes, cpu)
        if self._last is not None:
            cpu, waiting = max(self._last.cpu, cpu), self._last.waiting | waiting
        metered = 0 if self._meter is None else self._meter.read()
        return _Look(monotonic_ns(), cpu, metered, waiting, self._sentinel.read())

    def _taken_by_host(self, first: _Look, last: _Look) -> int:
        """Return the time that the sentinel saw neither the bot nor the worker have their core."""
        if not self._sentinel.sees_cores:
            return sys.maxsize
        # Looking at the bot takes time of its core as well, but a bot could have the worker read
        # endless output; so only a share of the worker's own time is held against the host.
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
        """See now and then whether the bot has or had children, which could think for it too."""
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
            self._use_meter(processes, total)
        if self._meter is not None and total > self._cpu() + _INEXACT:
            self._meter = None  # it has lost the bot: it ends with programs that none may read
            self._lost_meter = True

    def _use_meter(self, processes: list[int], total: int) -> None:
        """Count by the bot's meter from now on, if there is one.

        Args:
            processes: All of the bot.
            total: Its processor time so far as ``/proc`` shows it.
        """
        if self._meter is None and not self._lost_meter:
            self._child.start_meter(processes)
            self._meter = self._child.meter
            self._unmetered = 0 if self._meter is None else total - self._meter.read()

    def _cpu(self) -> int:
        """Processor time of the bot; it stands still once that is gone."""
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
    """Charges a bot for its own time only."""

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
    """The clock of that name; the wall clock where the system does not count waiting."""
    if name == "wall":
        return WallClock()
    try:
        counts = IS_LINUX and int(Path("/proc/self/schedstat").read_bytes().split()[0]) > 0
    except (OSError, IndexError, ValueError):
        counts = False
    return FairClock() if counts else WallClock()
