"""The report of a check as text for people."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from tourney_runner.text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.botcheck.check_report import Check, Report, Timing

__all__ = ["check_lines", "summary_lines"]

_WIDTH = 96
_SHOWN = 400
"""The number of characters shown of a message; ``--json`` has more."""
_STDERR_LINES = 12
_MARKS = {"ok": "ok     ", "warning": "WARNING", "failed": "FAILED ", "skipped": "skipped"}


def check_lines(check: Check, *, verbose: bool) -> Iterator[str]:
    """Yield one line for a passed check, and for others everything that helps to fix it."""
    timing = f"; {_timing(check.timing)}" if check.timing else ""
    kind = f"{check.kind}: " if check.kind else ""
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
