"""Reporters beside the one that the organiser sees: they keep pages current and announce events."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.cli.run_progress import QuietReporter
from tourney_runner.publish.publish_options import LiveStatus
from tourney_runner.run.event_command import EventCommand
from tourney_runner.run.preview import duration
from tourney_runner.run.progress import Reporter
from tourney_runner.text import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.run.progress import Progress

__all__ = ["LiveReporter", "announcing"]

_SHORTEST = 10.0
"""Seconds between two times."""
_SHARE = 20
"""The pages are left alone for this many times as long as they took, so that writing them, which
takes longer with more deals, takes at most a twentieth of a core from the bots."""


class _Beside(Reporter):
    """A reporter that passes everything on to another one.

    Args:
        reporter: The other one.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        self._reporter.say(line)

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._reporter.begin(progress)

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        self._reporter.update(progress)

    def end(self) -> None:
        """See `Reporter.end`."""
        self._reporter.end()

    def so_far(self, progress: Progress) -> None:
        """See `Reporter.so_far`."""
        self._reporter.so_far(progress)


class _Announcer(_Beside):
    """A reporter that gives new events to the organiser's command."""

    def __init__(self, reporter: Reporter, command: EventCommand) -> None:
        super().__init__(reporter)
        self._command = command

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        super().update(progress)
        self._command.poll()


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@contextmanager
def announcing(config: Config, folder: Path, reporter: Reporter) -> Iterator[Reporter]:
    """Give the events of a run to the command of `on_event`, if there is one.

    Args:
        config: The tournament.
        folder: The results folder.
        reporter: The reporter of the run.

    Yields:
        The reporter to use for the run.
    """
    if config.on_event is None:
        yield reporter
        return
    # A failure of the command must be seen even where the run prints nothing.
    say = _to_stderr if isinstance(reporter, QuietReporter) else reporter.say
    command = EventCommand(config, folder, say)
    try:
        yield _Announcer(reporter, command)
    except BaseException as error:
        command.close(error)
        raise
    command.close(None)


class LiveReporter(_Beside):
    """A reporter that also keeps the pages current.

    Args:
        reporter: The other reporter, which gets everything.
        folder: The results folder.
    """

    def __init__(self, reporter: Reporter, folder: Path) -> None:
        super().__init__(reporter)
        self._folder = folder
        self._writer: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._next = 0.0
        self._began = 0.0
        self._before = 0

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._reporter.begin(progress)
        self._next = self._began = time.monotonic()
        self._before = progress.done

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
                    "--live-status",
                    msgspec.json.encode(self._status(progress, now)).decode(),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def _status(self, progress: Progress, now: float) -> LiveStatus:
        """Return the state of the run, with the time left at the average pace so far."""
        new = progress.done - self._before
        left = ""
        if progress.total is not None and new:
            left = duration((progress.total - progress.done) * (now - self._began) / new)
        return LiveStatus(done=progress.done, total=progress.total, left=left, at=utc_now())

    def end(self) -> None:
        """See `Reporter.end`; the run itself writes the last pages."""
        self._reporter.end()
        if self._writer is not None:
            self._writer.terminate()
            self._writer.wait()
            self._writer = None
