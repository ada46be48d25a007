"""From what happened in a trial to a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.authors.check.advice import advice
from runner.authors.check.report import Check, Timing, counted
from runner.protocol.lines import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.authors.check.witness import Exchange
    from runner.play.faults import Fault
    from runner.results.records import DealRecord, FaultRecord

__all__ = ["OWN", "Deals", "answered", "failed", "judged"]

OWN = 0
"""The entrant number of the bot under trial."""

_SLOW = 0.5
"""Share of a limit that is worth a warning."""
_SENT = 1500
"""Characters of a request that are kept."""
_STDERR = 4000
_STDERR_NOTE = "stderr: "
_PONDER_NOTE = "it used "
"""How the notes on a bot begin that are not about its lines; a busy host may bring the latter."""


class Deals(NamedTuple):
    """Deals that were played, and what the bot was asked in them."""

    records: Sequence[DealRecord]
    exchanges: Sequence[Exchange]

    def fault(self) -> FaultRecord | None:
        """The bot's first fault."""
        faults = (fault for record in self.records for fault in record.faults)
        return next((fault for fault in faults if fault.entrant == OWN), None)

    def strays(self) -> list[str]:
        """What was noted of lines that are no answers."""
        return [note for note in self._notes() if not note.startswith((_STDERR_NOTE, _PONDER_NOTE))]

    def stderr(self) -> str:
        """What it wrote there."""
        found = [note for note in self._notes() if note.startswith(_STDERR_NOTE)]
        return "\n".join(note.removeprefix(_STDERR_NOTE) for note in found)[-_STDERR:]

    def _notes(self) -> Iterator[str]:
        for record in self.records:
            for seat, text in record.notes:
                if record.seating[seat] == OWN:
                    yield text


def judged(name: str, deals: Deals, limit_ms: int, *, strays: bool) -> Check:
    """The check that some deals amount to.

    Args:
        name: What was tried.
        deals: What came of it.
        limit_ms: For an answer.
        strays: Whether lines that are no answers are worth a warning.
    """
    timing = Timing.of([it.charged for it in deals.exchanges], limit_ms)
    if fault := deals.fault():
        return failed(name, fault, fault.request.encode(), timing)
    slowest = max(deals.exchanges, key=lambda it: it.charged, default=None)
    found = f"{counted(len(deals.records), 'deal')}, {counted(len(deals.exchanges), 'move')}"
    mend = ""
    if strays and (lines := deals.strays()):
        found += f"; it prints lines to stdout that are no answers, the first: {lines[0]}"
        mend = "print to stderr instead; stdout is for answers"
    elif timing and timing.share > _SLOW:
        found += f"; an answer took {timing.share:.0%} of the limit"
        mend = "think less: a busy machine may push it over the limit"
    return Check(
        name=name,
        verdict="warning" if mend else "ok",
        found=found,
        mend=mend,
        sent=quoted(slowest.request, _SENT) if slowest else "",
        received=quoted(slowest.answer) if slowest else "",
        stderr=deals.stderr(),
        timing=timing,
    )


def answered(name: str, found: str, exchange: Exchange, limit_ms: int) -> Check:
    """A single request that went well."""
    return Check(
        name=name,
        verdict="ok",
        found=found,
        sent=quoted(exchange.request, _SENT),
        received=quoted(exchange.answer),
        timing=Timing.of([exchange.charged], limit_ms),
    )


def failed(
    name: str, fault: Fault | FaultRecord, sent: bytes, timing: Timing | None = None
) -> Check:
    """A check that ended with a fault."""
    return Check(
        name=name,
        verdict="failed",
        kind=fault.kind,
        found=fault.cause,
        mend=advice(fault.kind, fault.cause, fault.answer),
        sent=quoted(sent, _SENT),
        received=fault.answer,
        stderr=fault.stderr[-_STDERR:],
        timing=timing,
    )
