"""A clock that does not punish a bot for a busy host.

An answer within its limit by the wall clock is accepted on that alone. Only a later one is looked
into: it is charged the processor time of the bot's whole tree, or the wall time less the time for
which the bot was ready to run and got no core, whichever is more. A wall cap bounds the whole.

The system counts both per thread (``/proc/PID/task/TID/schedstat``: time on a core, time waiting
for one). Reading all threads costs tens of microseconds, so it is done only once a move has
dragged on for a step of the channel; what was waited before that is not counted, except where
the worker itself came back late.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import clock_gettime_ns
from typing import TYPE_CHECKING, Literal, NamedTuple

from tourney_runner.process.clock import Charge, Clock, WallClock, Watch
from tourney_runner.process.procfs import IS_LINUX, contents

if TYPE_CHECKING:
    from tourney_runner.process.child import Child

__all__ = ["FairClock", "FairWatch", "make_clock"]

_CAP_FACTOR = 5
_CAP_EXTRA = 2_000_000_000
_HELD_UP = 100_000_000
"""A worker that comes back so late was stopped, suspended or starved, and knows nothing of what
the bot could do in the meantime."""
_SLACK = 1_000_000
"""What a bot may use after an answer to get back to reading, a collector or a compiler included."""
_READ_EVERY = 5 * _SLACK
"""A bot that is not suspected is read no more often; what it used meanwhile shows all the same."""
_LOOK_EVERY = 50_000_000
"""After so long it is time to see whether a bot has got children: that costs as much as two moves,
and there are bots that play a deal in less than a millisecond."""
_CORES = os.cpu_count() or 1
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class _Usage(NamedTuple):
    """What a tree of processes has used so far, in nanoseconds."""

    cpu: int
    waiting: dict[int, int]
    """Ready to run, without a core; by thread."""
    stolen: int
    """Time that the machine under this one kept for itself, over all cores."""


def _threads(pid: int) -> list[str]:
    with suppress(OSError):  # a glob of Path's own raises if the process ends meanwhile
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - only the names are of use
    return []


def _reaped(pid: int) -> int:
    """Processor time of what has ended below a process and was waited for there."""
    with suppress(OSError, IndexError):
        fields = contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return (int(fields[13]) + int(fields[14])) * _TICK
    return 0


def _stolen() -> int:
    with suppress(OSError, IndexError), Path("/proc/stat").open("rb") as file:
        return int(file.readline().split()[8]) * _TICK
    return 0


def _tree_cpu(child: Child, processes: list[int]) -> int:
    """Processor time of a whole tree, with what has ended in it."""
    # What ends in the meantime must not count twice, as its own and as its parent's.
    total = sum(map(_reaped, processes))
    for pid in processes:
        with suppress(OSError):
            total += clock_gettime_ns(_process_clock(pid))
    return total + child.collected


def _usage(child: Child) -> _Usage:
    processes = child.processes()
    waiting: dict[int, int] = {}
    for pid in processes:
        for thread in _threads(pid):
            with suppress(OSError, ValueError):
                counts = contents(f"/proc/{pid}/task/{thread}/schedstat").split()
                waiting[int(thread)] = int(counts[1])
    return _Usage(_tree_cpu(child, processes), waiting, _stolen())


def _more(before: dict[int, int], after: dict[int, int]) -> int:
    """What has been added over all threads, new ones included."""
    return sum(max(0, value - before.get(thread, 0)) for thread, value in after.items())


class FairWatch(Watch):
    """See the module.

    Args:
        child: The process.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._clock: int | None = None
        """The processor-time clock of the bot's own process, which is all there is of most."""
        self._has_children = False
        self._counted = self._counted_at = self._used = 0
        """Processor time when it was last read, when that was, and what it had been to move."""
        self._next_look = 0
        self._asked = -1
        self._before: _Usage | None = None
        self._seen: _Usage | None = None
        self._late = 0
        self._latest = 0

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

    def step(self, asked: int, late: int) -> None:
        """See `Watch.step`."""
        self._turn_to(asked)
        if late > 0:
            self._late += late
            self._latest = max(self._latest, late)
        self._look()

    def charge(self, asked: int, wall: int) -> Charge:
        """See `Watch.charge`."""
        self._turn_to(asked)
        # What it can have used between the last reading and the request is not this move's.
        own = max(0, self._cpu() - self._counted - (asked - self._counted_at) * _CORES)
        if self._before is None:  # it was held up before the first look at it
            charged = max(own, wall - self._late)
            return Charge(wall, charged, own, self._late, self._spoilt(0))
        before, after = self._before, self._look()
        cpu = max(own, after.cpu - before.cpu)
        stolen = max(0, after.stolen - before.stolen) // _CORES
        waiting = _more(before.waiting, after.waiting) + self._late + stolen
        return Charge(wall, max(cpu, wall - waiting), cpu, waiting, self._spoilt(stolen))

    def _turn_to(self, asked: int) -> None:
        """Forget what was seen of another move."""
        if asked != self._asked:
            self._asked = asked
            self._before = self._seen = None
            self._late = self._latest = 0

    def _look(self) -> _Usage:
        """Read all counts; those of what has ended stay as they were last seen."""
        now = _usage(self._child)
        if self._seen is not None:
            now = now._replace(
                cpu=max(self._seen.cpu, now.cpu), waiting=self._seen.waiting | now.waiting
            )
        self._seen = now
        if self._before is None:
            self._before = now
        return now

    def _spoilt(self, stolen: int) -> str:
        if self._latest >= _HELD_UP:
            return f"the worker was held up for {self._latest / 1e9:.1f} s"
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
        self._clock = _process_clock(processes[0]) if processes else None
        ended = self._child.collected + sum(map(_reaped, processes))
        self._has_children = self._has_children or len(processes) > 1 or ended > 0
        self.suspects = self.suspects or self._has_children

    def _cpu(self) -> int:
        """Processor time of the bot; it stands still once that is gone."""
        if self._has_children:
            return _tree_cpu(self._child, self._child.processes())
        if self._clock is None:
            return self._counted
        try:
            return clock_gettime_ns(self._clock)
        except OSError:
            return self._counted


def _process_clock(pid: int) -> int:
    """The id of the processor-time clock of another process, as the kernel numbers them."""
    return (~pid << 3) | 2


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
