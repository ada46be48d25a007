"""What a verification comes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.results.records import DealKey

__all__ = ["Finding", "Findings", "Report", "Where"]

_NAMED = 20
"""Findings of one kind that are listed; the rest is counted."""

Where = Literal["store", "rules", "schedule", "tables", "play"]
"""What is wrong: a row of the file, a deal by the rules, the set of deals, the published tables,
or a deal that came out otherwise when it was played again."""


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it should be."""

    where: Where
    text: str
    deal: int | None = None
    """The number of the deal in schedule order, from 1."""


class Report(msgspec.Struct, frozen=True):
    """All that a verification has found."""

    deals: int
    """Whose moves were played again by the rules."""
    played: int
    """Deals that were played again by the bots."""
    wrong: int
    """How many things are not as they should be, the listed ones and the others."""
    findings: tuple[Finding, ...]
    """By kind; of each kind the first."""
    notes: tuple[str, ...]
    """What could not be checked, and what explains itself."""

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


class Findings:
    """Takes down what a verification finds.

    Args:
        number: The number of a deal in schedule order, from 1; it is asked for listed ones only.
    """

    def __init__(self, number: Callable[[DealKey], int]) -> None:
        self._number = number
        self._listed: dict[Where, list[Finding]] = {}
        self._counts: Counter[Where] = Counter()
        self._notes: list[str] = []

    def add(self, where: Where, text: str, key: DealKey | None = None) -> None:
        """Something is not as it should be, with a deal or in general."""
        self._counts[where] += 1
        listed = self._listed.setdefault(where, [])
        if len(listed) < _NAMED:
            listed.append(Finding(where, text, None if key is None else self._number(key)))

    def has(self, where: Where) -> bool:
        """Return whether anything of a kind was found."""
        return self._counts[where] > 0

    def note(self, text: str) -> None:
        """Something could not be checked, or explains itself."""
        self._notes.append(text)

    def report(self, *, deals: int, played: int) -> Report:
        """What came together; arguments as `Report` has them."""
        shown: list[Finding] = []
        for where, listed in self._listed.items():
            shown += listed
            if more := self._counts[where] - len(listed):
                shown.append(Finding(where, f"and {more:,} more of this kind"))
        return Report(deals, played, self._counts.total(), tuple(shown), tuple(self._notes))
