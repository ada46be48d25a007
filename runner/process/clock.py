"""Who pays for the time that a move took.

A clock says how long a move may be waited for, and, only for a move that came later than its
limit, how much of that time is the bot's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.process.launcher import Child

__all__ = ["Clock", "WallClock"]


class Clock(ABC):
    """Judges the time of a move; all times in nanoseconds."""

    @abstractmethod
    def describe(self) -> str:
        """One line, stored with the results."""

    @abstractmethod
    def patience(self, limit: int) -> int:
        """How long to wait for a move whose limit is `limit`."""

    @abstractmethod
    def charge(self, wall: int, child: Child) -> int:
        """What a move that took longer than its limit is charged."""


class WallClock(Clock):
    """Time is what the wall clock says."""

    def describe(self) -> str:
        """See `Clock.describe`."""
        return "clock: wall"

    def patience(self, limit: int) -> int:
        """See `Clock.patience`."""
        return limit

    def charge(self, wall: int, child: Child) -> int:  # noqa: ARG002 - other clocks ask the process
        """See `Clock.charge`."""
        return wall
