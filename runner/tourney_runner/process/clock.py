"""Clocks: the interface for charging the time of moves, and the wall clock.

A clock decides how long to wait for a move and, only if a move came after its limit, how much of
that time is the bot's own. It checks one process at a time through a `Watch`, which is notified of
slow moves, and of other moves only as often as it asks for.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from tourney_runner.process.child import Child

__all__ = ["Charge", "Clock", "WallClock", "WallWatch", "Watch"]


class Charge(NamedTuple):
    """The cost of a slow move, in nanoseconds."""

    wall: int
    """The wall time."""
    charged: int
    """The bot's own share, which counts against the limit."""
    cpu: int = 0
    """Processor time of the bot's whole tree during the move."""
    waiting: int = 0
    """Time that the bot or the worker was ready to run but had no core."""
    spoilt: str = ""
    """The host's interference, if the cause of the delay is unclear; else empty."""


class Watch(ABC):
    """A monitor of one process during its moves. Times are nanoseconds of `time.monotonic_ns`."""

    next_check: int = sys.maxsize
    """The time from which `check` has to be called again."""
    suspects: bool = False
    """Whether `answered` has to be called for each answer."""

    @abstractmethod
    def deal(self, now: int, used: int) -> None:
        """Note that a deal begins, before the first move; arguments as for `check`."""

    @abstractmethod
    def check(self, now: int, used: int) -> int:
        """Note that a request is about to be written.

        Args:
            now: The current time.
            used: The time that the bot has been to move since its process started.

        Returns:
            Processor time that the bot used outside of its moves since the last check.
        """

    @abstractmethod
    def answered(self, now: int, used: int) -> None:
        """Note that an answer has come; arguments as for `check`."""

    @abstractmethod
    def step(self, asked: int, late: int, latest: int) -> None:
        """Note that the answer to a request has not come yet.

        Args:
            asked: The time when the request was written.
            late: The total delay of the worker's waits that returned late since the last step.
            latest: The largest of these delays.
        """

    @abstractmethod
    def charge(self, asked: int, wall: int, late: int = 0, latest: int = 0) -> Charge:
        """Return the cost of a move.

        Args:
            asked: The time when the request was written.
            wall: The duration of the move by the wall clock.
            late: As for `step`.
            latest: As for `step`.
        """


class Clock(ABC):
    """The clock that decides how much time moves cost. Times are in nanoseconds."""

    name: ClassVar[str]

    @abstractmethod
    def describe(self) -> str:
        """Return a description in one line, stored with the results."""

    @abstractmethod
    def patience(self, limit: int) -> int:
        """Return how long to wait for a move with this limit."""

    @abstractmethod
    def watch(self, child: Child) -> Watch:
        """Return a watch for a process that has just been started."""


class WallWatch(Watch):
    """A watch that uses only the wall clock."""

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
    """The clock that charges wall time, for hosts that run nothing else."""

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
