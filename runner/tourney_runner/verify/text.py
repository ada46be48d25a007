"""Output of the ``verify`` command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.text import counted, escaped

if TYPE_CHECKING:
    from tourney_runner.verify.report import Report

__all__ = ["report_lines"]

_WIDTH = 500


def report_lines(report: Report) -> list[str]:
    """Return a report as lines, one for each finding or note."""
    lines = []
    for finding in report.findings:
        deal = "" if finding.deal is None else f"deal {finding.deal}: "
        lines.append(f"WRONG ({finding.where}): {deal}{escaped(finding.text, _WIDTH)}")
    lines += [f"note: {escaped(note, _WIDTH)}" for note in report.notes]
    deals = counted(report.deals, "deal")
    checked = f"{deals} checked by the rules, {report.played:,} played again"
    verdict = "all is as it should be" if report.passed else f"{report.wrong:,} found wrong"
    return [*lines, f"{checked}: {verdict}"]
