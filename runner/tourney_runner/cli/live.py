"""Pages that follow a run: written again and again by a process of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tourney_runner.run.progress import Reporter

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.run.progress import Progress

__all__ = ["LiveReporter"]

_SHORTEST = 10.0
"""Seconds between two times."""
_SHARE = 20
"""The pages are left alone for this many times as long as they took, so that writing them, which
grows with the deals, takes at most a twentieth of a core from the bots."""


class LiveReporter(Reporter):
    """Tells another reporter everything, and keeps the pages current.

    Args:
        reporter: Who is told.
        folder: The folder of results.
    """

    def __init__(self, reporter: Reporter, folder: Path) -> None:
        self._reporter = reporter
        self._folder = folder
        self._writer: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._next = 0.0

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        self._reporter.say(line)

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._reporter.begin(progress)
        self._next = time.monotonic()

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        self._reporter.update(progress)
        now = time.monotonic()
        if self._writer is not None and self._writer.poll() is not None:
            self._writer = None
            self._next = now + max(_SHORTEST, _SHARE * (now - self._started))
        if self._writer is None and now >= self._next and progress.done:
            self._started = now
            self._writer = subprocess.Popen(
                [
                    "nice",
                    "-n",
                    "19",
                    sys.executable,
                    "-m",
                    "tourney_runner",
                    "publish",
                    self._folder,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def end(self) -> None:
        """See `Reporter.end`; the run itself writes the last pages."""
        self._reporter.end()
        if self._writer is not None:
            self._writer.terminate()
            self._writer.wait()
            self._writer = None

    def so_far(self, progress: Progress) -> None:
        """See `Reporter.so_far`."""
        self._reporter.so_far(progress)
