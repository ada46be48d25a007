"""What a check of a bot found: values that print as text and as JSON."""

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
    """How long answers took; milliseconds."""

    moves: int
    median_ms: float
    worst_ms: float
    limit_ms: int
    share: float
    """The worst as a share of the limit."""

    @classmethod
    def of(cls, charged: Sequence[int], limit_ms: int) -> Self | None:
        """From the nanoseconds of all answers; None where there were none."""
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
    """One thing that was tried."""

    name: str
    verdict: CheckVerdict
    kind: FaultKind | None = None
    """The fault, as a tournament counts it."""
    found: str = ""
    """What happened, in plain words."""
    mend: str = ""
    """What to do about it."""
    sent: str = ""
    """The request in question: that of the fault, or else the one that took longest."""
    received: str = ""
    """What the bot wrote."""
    stderr: str = ""
    """What the bot wrote there, or its build wrote last."""
    timing: Timing | None = None
    rules: dict[str, Any] = {}
    """The rules under which it was tried that differ from the game's usual ones."""


class Watcher(ABC):
    """Told how a trial goes, in the thread that makes it."""

    @abstractmethod
    def begin(self, name: str) -> None:
        """A check begins; it may take long."""

    @abstractmethod
    def tell(self, check: Check) -> None:
        """A check has ended."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was tried with one bot."""

    bot: str
    language: str
    hash: str
    """SHA-256 of all that decides how it plays."""
    protection: str
    """How it was confined."""
    warning: str
    """What is not as it would be in a tournament."""
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether a tournament may have it."""
        return all(check.verdict != "failed" for check in self.checks)

    def count(self, verdict: CheckVerdict) -> int:
        """How many checks ended so."""
        return sum(check.verdict == verdict for check in self.checks)
