"""Conversion of played deals, requests and faults into checks."""

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
"""The share of a limit from which a warning is given."""
_SENT = 1500
"""Characters of a successful request that are kept; after a fault, all are."""
_TELLING = 1000
"""The number of first characters that identify a request, since its id is among them."""
_STDERR = 4000


class Deals(NamedTuple):
    """Deals that were played, with the requests to the bot."""

    records: Sequence[DealRecord]
    exchanges: Sequence[Exchange]
    asked: Sequence[Asked]

    def request(self, fault: FaultRecord) -> bytes:
        """Return the whole request of a fault, which its record may cut; empty if it had none."""
        start = fault.request[:_TELLING].encode()
        whole = (asked.sent for asked in self.asked if asked.request.startswith(start))
        return next(whole, start) if start else start

    def fault(self) -> FaultRecord | None:
        """Return the bot's first fault, or None."""
        faults = (fault for record in self.records for fault in record.faults)
        return next((fault for fault in faults if fault.entrant == OWN), None)

    def strays(self) -> list[str]:
        """Return the notes about lines that are not answers."""
        return [
            note.text
            for record in self.records
            for note in record.strays()
            if record.seating[note.seat] == OWN
        ]

    def second_answers(self) -> list[str]:
        """Return the notes about surplus answers."""
        return [
            note.text
            for record in self.records
            for note in record.notes
            if note.kind == "stale" and record.seating[note.seat] == OWN
        ]

    def stderr(self) -> str:
        """Return the bot's stderr."""
        found = (
            note.text
            for record in self.records
            for note in record.notes
            if note.kind == "stderr" and record.seating[note.seat] == OWN
        )
        return "\n".join(found)[-_STDERR:]


def judged(name: str, deals: Deals, limit_ms: int, *, strays: bool, game: str = "") -> Check:
    """Return the check that summarises some deals.

    Args:
        name: The name of the check.
        deals: The deals.
        limit_ms: The limit for an answer, in milliseconds.
        strays: Whether lines that are not answers are worth a warning.
        game: The name of the game.
    """
    timing = Timing.of([it.charged for it in deals.exchanges], limit_ms)
    if fault := deals.fault():
        return failed(name, fault, deals.request(fault), timing, game=game)
    slowest = max(deals.exchanges, key=lambda it: it.charged, default=None)
    found = f"{counted(len(deals.records), 'deal')}, {counted(len(deals.exchanges), 'move')}"
    fix = ""
    if strays and (second := deals.second_answers()):
        found += f"; it answers a request more than once, the first time: {second[0]}"
        fix = "write one answer for each `move`; print notes to stderr, or put them into `debug`"
    elif strays and (lines := deals.strays()):
        found += f"; it prints lines to stdout that are not answers, the first: {lines[0]}"
        fix = "print to stderr instead; stdout is for answers"
    else:
        fix = _slowness(timing)
    return Check(
        name=name,
        verdict="warning" if fix else "ok",
        found=found,
        fix=fix,
        sent=quoted(slowest.request, _SENT) if slowest else "",
        received=quoted(slowest.answer) if slowest else "",
        stderr=deals.stderr(),
        timing=timing,
    )


def answered(name: str, found: str, exchange: Exchange, limit_ms: int) -> Check:
    """Return the check of a single request that was answered."""
    timing = Timing.of([exchange.charged], limit_ms)
    fix = _slowness(timing)
    return Check(
        name=name,
        verdict="warning" if fix else "ok",
        found=found,
        fix=fix,
        sent=quoted(exchange.request, _SENT),
        received=quoted(exchange.answer),
        timing=timing,
    )


def _slowness(timing: Timing | None) -> str:
    """Return advice for answers that took most of the limit; empty if they did not."""
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
    """Return the check of a fault."""
    return Check(
        name=name,
        verdict="failed",
        kind=fault.kind,
        found=fault.cause,
        fix=advice(fault.kind, fault.cause, fault.answer, fault.stderr, game),
        sent=sent.decode(errors="replace").rstrip(),
        received=fault.answer,
        stderr=fault.stderr[-_STDERR:],
        timing=timing,
    )


def unbuilt(name: str, problem: str) -> Check:
    """Return the check of a bot that cannot be staged.

    The lines of the problem after the first are the output of its build.
    """
    found, _, output = problem.partition("\n")
    return Check(
        name=name,
        verdict="failed",
        found=found,
        fix=BUILD_ADVICE if output else "",
        stderr=dedent(output),
    )
