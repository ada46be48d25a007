"""Who pays for the time that a move took.

A clock says how long a move may be waited for and, only for a move that came later than its
limit, how much of that time is the bot's own. It looks at one process at a time through a
`Watch`, which is told when a move drags on, and of others only as often as it wants.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from tourney_runner.process.child import Child

__all__ = ["Charge", "Clock", "WallClock", "WallWatch", "Watch"]


class Charge(NamedTuple):
    """What a slow move costs, in nanoseconds."""

    wall: int
    """By the wall clock."""
    charged: int
    """The bot's own share; this is what counts against the limit."""
    cpu: int = 0
    """Processor time of the bot's whole tree during the move."""
    waiting: int = 0
    """Time for which the bot or the worker was ready to run and got no core."""
    spoilt: str = ""
    """What the host did to the move, if that leaves open whose fault the delay is."""


class Watch(ABC):
    """Looks at one process during its moves; all times in nanoseconds of `time.monotonic_ns`."""

    next_check: int = sys.maxsize
    """When `check` has something to do again."""
    suspects: bool = False
    """Whether `answered` wants to be told of each answer."""

    @abstractmethod
    def deal(self, now: int, used: int) -> None:
        """A deal begins, before anybody is to move; arguments as for `check`."""

    @abstractmethod
    def check(self, now: int, used: int) -> int:
        """A request is about to be written.

        Args:
            now: The time.
            used: For how long the bot has been to move so far, from the start of its process.

        Returns:
            Processor time that the bot took for itself since the last check.
        """

    @abstractmethod
    def answered(self, now: int, used: int) -> None:
        """An answer has come; arguments as for `check`."""

    @abstractmethod
    def step(self, asked: int, late: int, latest: int) -> None:
        """Note that the answer to a request has not come yet.

        Args:
            asked: When the request was written.
            late: By how much the worker's waits since the last step came back too late in all.
            latest: The largest of these delays.
        """

    @abstractmethod
    def charge(self, asked: int, wall: int, late: int = 0, latest: int = 0) -> Charge:
        """Return what a move costs.

        Args:
            asked: When the request was written.
            wall: How long the move took by the wall clock.
            late: As for `step`.
            latest: As for `step`.
        """


class Clock(ABC):
    """Judges the time of moves; all times in nanoseconds."""

    name: ClassVar[str]

    @abstractmethod
    def describe(self) -> str:
        """One line, stored with the results."""

    @abstractmethod
    def patience(self, limit: int) -> int:
        """How long to wait for a move whose limit is `limit`."""

    @abstractmethod
    def watch(self, child: Child) -> Watch:
        """A watch for a process that has just been started."""


class WallWatch(Watch):
    """Nothing but the wall clock counts."""

    def deal(self, now: int, used: int) -> None:
        """See `Watch.deal`."""

    def check(self, now: int, used: int) -> int:  # noqa: ARG002 - the interface's
        """See `Watch.check`."""
        return 0

    def answered(self, now: int, used: int) -> None:
        """See `Watch.answered`."""

    def step(self, asked: int, late: int, latest: int) -> None:
        """See `Watch.step`."""

    def charge(self, asked: int, wall: int, late: int = 0, latest: int = 0) -> Charge:  # noqa: ARG002 - the interface's
        """See `Watch.charge`."""
        return Charge(wall, wall)


class WallClock(Clock):
    """Time is what the wall clock says; for hosts that do nothing else."""

    name = "wall"

    def describe(self) -> str:
        """See `Clock.describe`."""
        return "clock: wall"

    def patience(self, limit: int) -> int:
        """See `Clock.patience`."""
        return limit

    def watch(self, child: Child) -> Watch:  # noqa: ARG002 - other clocks look at the process
        """See `Clock.watch`."""
        return WallWatch()
