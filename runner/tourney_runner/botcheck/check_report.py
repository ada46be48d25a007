"""Results of a check of a bot: values that can be printed as text and as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from tourney_runner.results.records import FaultKind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Check", "CheckVerdict", "Report", "Timing", "Watcher"]

CheckVerdict = Literal["ok", "warning", "failed", "skipped"]


class Timing(msgspec.Struct, frozen=True):
    """Times of answers, in milliseconds."""

    moves: int
    median_ms: float
    worst_ms: float
    limit_ms: int
    share: float
    """The longest time as a share of the limit."""

    @classmethod
    def of(cls, charged: Sequence[int], limit_ms: int) -> Self | None:
        """Compute the times from the nanoseconds of all answers; None if there are none."""
        if not charged:
            return None
        worst = max(charged) / 1e6
        return cls(
            moves=len(charged),
            median_ms=round(median(charged) / 1e6, 3),
            worst_ms=round(worst, 3),
            limit_ms=limit_ms,
            share=round(worst / limit_ms, 4),
        )


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one check."""

    name: str
    verdict: CheckVerdict
    kind: FaultKind | None = None
    """The kind of the fault, as in a tournament; None without a fault."""
    found: str = ""
    """The result in plain words."""
    fix: str = ""
    """Advice on fixing it."""
    sent: str = ""
    """The request of the fault, or else the one that took longest."""
    received: str = ""
    """The bot's stdout since that request."""
    stderr: str = ""
    """The bot's stderr, or the last output of its build."""
    timing: Timing | None = None
    rules: dict[str, Any] = {}
    """The rules of the check that differ from the game's usual ones."""


class Watcher(ABC):
    """A receiver of progress, called in the thread that runs the checks."""

    @abstractmethod
    def begin(self, name: str) -> None:
        """Note the start of a check, which may take long."""

    @abstractmethod
    def finish(self, check: Check) -> None:
        """Note the result of a check."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The results of all checks of one bot."""

    bot: str
    language: str
    hash: str
    """The bot's hash: SHA-256 of everything that determines its play."""
    protection: str
    """The protection that it ran under."""
    warning: str
    """The difference from a tournament's protection; empty if there is none."""
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """True if a tournament would accept the bot."""
        return all(check.verdict != "failed" for check in self.checks)

    def count(self, verdict: CheckVerdict) -> int:
        """Return the number of checks with this verdict."""
        return sum(check.verdict == verdict for check in self.checks)
