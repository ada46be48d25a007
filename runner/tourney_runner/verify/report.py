"""The report of a verification."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.results.records import DealKey

__all__ = ["Finding", "Findings", "Report", "Where", "report_lines"]


_NAMED = 20
"""Findings of one kind that are listed; the others are only counted."""

Where = Literal["store", "rules", "schedule", "rulings", "tables", "play"]
"""The object of a finding: a row of the file, a deal by the rules, the set of deals, the
decisions of runs, the published tables, or a deal that differed when it was played again.
"""


class Finding(msgspec.Struct, frozen=True):
    """A problem that a verification has found."""

    where: Where
    text: str
    deal: int | None = None
    """The number of the deal in schedule order, from 1."""


class Report(msgspec.Struct, frozen=True):
    """The results of a verification."""

    deals: int
    """Deals that were checked by the rules."""
    played: int
    """Deals that were played again by the bots."""
    wrong: int
    """The number of problems, listed or not."""
    findings: tuple[Finding, ...]
    """The first findings of each kind, grouped by kind."""
    notes: tuple[str, ...]
    """Remarks on checks that were not possible, and on explained differences."""
    only_consistency: bool = False
    """Whether there were no deals, so that tables and pages were only compared to each other."""

    @property
    def passed(self) -> bool:
        """Whether no problems were found."""
        return not self.findings


class Findings:
    """A collector of the findings of a verification.

    Args:
        number: Returns the number of a deal in schedule order, from 1; called for listed ones only.
    """

    def __init__(self, number: Callable[[DealKey], int]) -> None:
        self._number = number
        self._listed: dict[Where, list[Finding]] = {}
        self._counts: Counter[Where] = Counter()
        self._notes: list[str] = []

    def add(self, where: Where, text: str, key: DealKey | None = None) -> None:
        """Add a problem, with a deal or in general."""
        self._counts[where] += 1
        listed = self._listed.setdefault(where, [])
        if len(listed) < _NAMED:
            listed.append(Finding(where, text, None if key is None else self._number(key)))

    def has(self, where: Where) -> bool:
        """Return whether anything of a kind was found."""
        return self._counts[where] > 0

    def note(self, text: str) -> None:
        """Add a remark on a check that was not possible, or on an explained difference."""
        self._notes.append(text)

    def report(self, *, deals: int, played: int, only_consistency: bool = False) -> Report:
        """Return the report; see `Report` for the arguments."""
        shown: list[Finding] = []
        for where, listed in self._listed.items():
            shown += listed
            if more := self._counts[where] - len(listed):
                shown.append(Finding(where, f"and {more:,} more of this kind"))
        return Report(
            deals,
            played,
            self._counts.total(),
            tuple(shown),
            tuple(self._notes),
            only_consistency,
        )


_WIDTH = 500


def report_lines(report: Report) -> list[str]:
    """Return a report as lines, one for each finding or note."""
    lines = []
    for finding in report.findings:
        deal = "" if finding.deal is None else f"deal {finding.deal}: "
        lines.append(f"WRONG ({finding.where}): {deal}{escaped(finding.text, _WIDTH)}")
    lines += [f"note: {escaped(note, _WIDTH)}" for note in report.notes]
    if report.only_consistency:
        verdict = "they agree" if report.passed else f"{report.wrong:,} found wrong"
        lines.append(
            "note: this site has no deals, so only consistency was checked: nothing was computed"
            " again, and a change made in all files alike goes unnoticed"
        )
        return [*lines, f"tables and pages compared to each other: {verdict}"]
    deals = counted(report.deals, "deal")
    checked = f"{deals} checked by the rules, {report.played:,} played again"
    verdict = "all is as it should be" if report.passed else f"{report.wrong:,} found wrong"
    return [*lines, f"{checked}: {verdict}"]
