"""From what happened in a trial to a check."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.botcheck.advice import BUILD_ADVICE, advice
from tourney_runner.botcheck.check_report import Check, Timing
from tourney_runner.protocol.lines import quoted
from tourney_runner.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.botcheck.recording_player import Asked, Exchange
    from tourney_runner.play.faults import Fault
    from tourney_runner.results.records import DealRecord, FaultRecord

__all__ = ["OWN", "Deals", "answered", "failed", "judged", "unbuilt"]

OWN = 0
"""The entrant number of the bot under trial."""

_SLOW = 0.5
"""Share of a limit that is worth a warning."""
_SENT = 1500
"""Characters of a request that are kept of one that went well; after a fault, all of it."""
_TELLING = 1000
"""So many first characters tell one request from all others: its id is among them."""
_STDERR = 4000


class Deals(NamedTuple):
    """Deals that were played, and what the bot was asked in them."""

    records: Sequence[DealRecord]
    exchanges: Sequence[Exchange]
    asked: Sequence[Asked]

    def request(self, fault: FaultRecord) -> bytes:
        """The request of a fault, of which its record keeps only so much; empty if it had none."""
        start = fault.request[:_TELLING].encode()
        whole = (asked.sent for asked in self.asked if asked.request.startswith(start))
        return next(whole, start) if start else start

    def fault(self) -> FaultRecord | None:
        """The bot's first fault."""
        faults = (fault for record in self.records for fault in record.faults)
        return next((fault for fault in faults if fault.entrant == OWN), None)

    def strays(self) -> list[str]:
        """What was noted of lines that are no answers."""
        return [
            note.text
            for record in self.records
            for note in record.strays()
            if record.seating[note.seat] == OWN
        ]

    def second_answers(self) -> list[str]:
        """Return what was noted of answers that came too many."""
        return [
            note.text
            for record in self.records
            for note in record.notes
            if note.kind == "stale" and record.seating[note.seat] == OWN
        ]

    def stderr(self) -> str:
        """What it wrote there."""
        found = (
            note.text
            for record in self.records
            for note in record.notes
            if note.kind == "stderr" and record.seating[note.seat] == OWN
        )
        return "\n".join(found)[-_STDERR:]


def judged(name: str, deals: Deals, limit_ms: int, *, strays: bool, game: str = "") -> Check:
    """The check that some deals amount to.

    Args:
        name: What was tried.
        deals: What came of it.
        limit_ms: For an answer.
        strays: Whether lines that are no answers are worth a warning.
        game: What was played.
    """
    timing = Timing.of([it.charged for it in deals.exchanges], limit_ms)
    if fault := deals.fault():
        return failed(name, fault, deals.request(fault), timing, game=game)
    slowest = max(deals.exchanges, key=lambda it: it.charged, default=None)
    found = f"{counted(len(deals.records), 'deal')}, {counted(len(deals.exchanges), 'move')}"
    mend = ""
    if strays and (second := deals.second_answers()):
        found += f"; it answers a request more than once, the first time: {second[0]}"
        mend = "write one answer for each `move`; print notes to stderr, or put them into `debug`"
    elif strays and (lines := deals.strays()):
        found += f"; it prints lines to stdout that are no answers, the first: {lines[0]}"
        mend = "print to stderr instead; stdout is for answers"
    else:
        mend = _slowness(timing)
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
    timing = Timing.of([exchange.charged], limit_ms)
    mend = _slowness(timing)
    return Check(
        name=name,
        verdict="warning" if mend else "ok",
        found=found,
        mend=mend,
        sent=quoted(exchange.request, _SENT),
        received=quoted(exchange.answer),
        timing=timing,
    )


def _slowness(timing: Timing | None) -> str:
    """How to mend that most of a limit was used; empty where there is nothing to mend."""
    if timing is None or timing.share <= _SLOW:
        return ""
    return "take less time: a busy machine may push it over the limit"


def failed(
    name: str,
    fault: Fault | FaultRecord,
    sent: bytes,
    timing: Timing | None = None,
    *,
    game: str = "",
) -> Check:
    """A check that ended with a fault."""
    return Check(
        name=name,
        verdict="failed",
        kind=fault.kind,
        found=fault.cause,
        mend=advice(fault.kind, fault.cause, fault.answer, fault.stderr, game),
        sent=sent.decode(errors="replace").rstrip(),
        received=fault.answer,
        stderr=fault.stderr[-_STDERR:],
        timing=timing,
    )


def unbuilt(name: str, problem: str) -> Check:
    """A bot that cannot be copied or built; the lines after the first are what its build wrote."""
    found, _, output = problem.partition("\n")
    return Check(
        name=name,
        verdict="failed",
        found=found,
        mend=BUILD_ADVICE if output else "",
        stderr=dedent(output),
    )
