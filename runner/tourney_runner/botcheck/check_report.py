"""Results of a check of a bot: how they are judged, and their forms as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from abc import ABC, abstractmethod
from statistics import median
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import msgspec

from tourney_runner.botcheck.advice import BUILD_ADVICE, advice
from tourney_runner.protocol.lines import quoted
from tourney_runner.results.records import FaultKind
from tourney_runner.text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.botcheck.recording_player import Asked, Exchange
    from tourney_runner.play.faults import Fault
    from tourney_runner.results.records import DealRecord, FaultRecord

__all__ = [
    "OWN",
    "Check",
    "CheckVerdict",
    "Deals",
    "Report",
    "Timing",
    "Watcher",
    "answered",
    "check_lines",
    "failed",
    "judged",
    "summary_lines",
    "unbuilt",
]


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


_WIDTH = 96
_SHOWN = 400
"""The number of characters shown of a message; ``--json`` has more."""
_STDERR_LINES = 12
_MARKS = {"ok": "ok     ", "warning": "WARNING", "failed": "FAILED ", "skipped": "skipped"}


def check_lines(check: Check, *, verbose: bool) -> Iterator[str]:
    """Yield one line for a passed check, and for others everything that helps to fix it."""
    timing = f"; {_timing(check.timing)}" if check.timing else ""
    named = check.kind is None or check.name.endswith(check.kind)  # a failed start is named so
    kind = "" if named else f"{check.kind}: "
    yield f"{_MARKS[check.verdict]}  {check.name}: {kind}{escaped(check.found, 600)}{timing}"
    if check.verdict in ("warning", "failed") and check.fix:
        yield from _wrapped("fix", check.fix)
    if verbose or check.verdict == "failed":
        if check.rules:
            yield from _wrapped("rules", ", ".join(map(_rule, check.rules.items())))
        if check.sent:
            yield _quoted("sent", check.sent)
        if check.sent or check.received:
            yield _quoted("received", check.received or "(nothing)")
        if check.stderr or check.verdict == "failed":
            yield from _block("stderr", check.stderr or "(nothing)")


def summary_lines(report: Report) -> Iterator[str]:
    """Yield the last lines of a report."""
    yield f"protection: {report.protection}"
    if report.warning:
        yield f"warning: {report.warning}"
    failed, warned = report.count("failed"), report.count("warning")
    if failed:
        yield f"{report.bot} is not ready for a tournament: {counted(failed, 'check')} failed"
    elif warned:
        yield f"{report.bot} is ready for a tournament, with {counted(warned, 'warning')}"
    else:
        yield f"{report.bot} is ready for a tournament"


def _timing(timing: Timing) -> str:
    if timing.moves == 1:
        return f"{timing.worst_ms:g} ms, {timing.share:.1%} of the limit"
    return (
        f"median {timing.median_ms:g} ms, worst {timing.worst_ms:g} ms,"
        f" {timing.share:.1%} of the limit"
    )


def _rule(named: tuple[str, Any]) -> str:
    name, value = named
    return f"{name} {json.dumps(value)}"


def _wrapped(word: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"         {word}: ", subsequent_indent=" " * 11
    )


def _quoted(word: str, text: str) -> str:
    return f"         {word}: {escaped(text, _SHOWN)}"


def _block(word: str, text: str) -> Iterator[str]:
    yield f"         {word}:"
    for line in _both_ends(text.splitlines()):
        yield f"           {escaped(line, _SHOWN)}"


def _both_ends(lines: list[str]) -> list[str]:
    """Shorten the middle: Python ends with the error, Node and Go begin with it."""
    left_out = len(lines) - _STDERR_LINES
    if left_out <= 0:
        return lines
    half = _STDERR_LINES // 2
    return [*lines[:half], f"... ({left_out} lines)", *lines[-half:]]


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
