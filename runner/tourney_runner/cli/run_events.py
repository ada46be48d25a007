"""A run as JSON for programs, one event a line, and a run that prints nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from tourney_runner.cli.terminal import write_exactly
from tourney_runner.run.progress import Reporter

if TYPE_CHECKING:
    from tourney_runner.run.progress import Progress

__all__ = ["JsonReporter", "QuietReporter", "write_event"]

_EVERY = 1.0
"""Seconds between two progress events."""


def write_event(event: str, **fields: Any) -> None:
    """Write one line of JSON to stdout."""
    write_exactly(json.dumps({"event": event, **fields}, ensure_ascii=False) + "\n")


class QuietReporter(Reporter):
    """A reporter that prints nothing; the command prints errors itself."""

    def say(self, line: str) -> None:
        """See `Reporter.say`."""

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""

    def end(self) -> None:
        """See `Reporter.end`."""

    def so_far(self, progress: Progress) -> None:
        """See `Reporter.so_far`."""


class JsonReporter(Reporter):
    """Events on stdout: ``message``, ``begin``, ``progress``, ``end``."""

    def __init__(self) -> None:
        self._next = 0.0
        self._playing = False

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        write_event("message", text=line)

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._playing = True
        write_event("begin", **_counts(progress))

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            write_event("progress", **_counts(progress))

    def end(self) -> None:
        """See `Reporter.end`."""
        if self._playing:
            self._playing = False
            write_event("end")

    def so_far(self, progress: Progress) -> None:
        """See `Reporter.so_far`."""
        write_event("interrupted", **_counts(progress))


def _counts(progress: Progress) -> dict[str, Any]:
    return {
        "done": progress.done,
        "total": progress.total,
        "matches": {"done": progress.finished, "total": progress.matches},
        "deals": progress.deals,
        "moves": progress.moves,
        "waiting": sorted(set(progress.waiting.values())),
        "bots": [
            {
                "name": tally.name,
                "deals": tally.deals,
                "mean_place": round(tally.mean_place, 6),
                "points": tally.points,
                "faults": tally.faults,
            }
            for tally in progress.tallies
        ],
    }
