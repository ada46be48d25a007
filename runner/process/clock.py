"""Who pays for the time that a move took.

A clock says how long a move may be waited for and, only for a move that came later than its
limit, how much of that time is the bot's own. It looks at one process at a time through a
`Watch`, which is told when a move begins, drags on and ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from runner.process.launcher import Child

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
    """Looks at one process during its moves. `begin` and `end` are on the fast path."""

    @abstractmethod
    def deal(self) -> None:
        """A deal begins, before anybody is to move."""

    @abstractmethod
    def begin(self, now: int) -> int:
        """A request is about to be written.

        Args:
            now: In nanoseconds of `time.monotonic_ns`.

        Returns:
            Nanoseconds of processor time that the bot took for itself since its last answer.
        """

    @abstractmethod
    def step(self, late: int) -> None:
        """The bot has not answered yet; the last wait returned `late` nanoseconds too late."""

    @abstractmethod
    def end(self, wall: int) -> None:
        """An answer has come after so many nanoseconds."""

    @abstractmethod
    def charge(self, wall: int) -> Charge:
        """What a move costs that took so long by the wall clock."""


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

    def deal(self) -> None:
        """See `Watch.deal`."""

    def begin(self, now: int) -> int:  # noqa: ARG002 - other watches need it
        """See `Watch.begin`."""
        return 0

    def step(self, late: int) -> None:
        """See `Watch.step`."""

    def end(self, wall: int) -> None:
        """See `Watch.end`."""

    def charge(self, wall: int) -> Charge:
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
