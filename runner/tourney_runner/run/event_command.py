"""Delivery of events to the organiser's command, ``on_event``.

The command gets one event as JSON on its standard input, in a process of its own. An event that it
has not taken (exit status 0) is given to it again by the next run, under the same id. Whatever the
command does, the run goes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.config.paths import expanded
from tourney_runner.errors import Interrupted, TourneyError
from tourney_runner.publish.events import all_events, delivered, log_events, make_event
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.summary import summarise
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.text import escaped, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.publish.events import Event

__all__ = ["EventCommand"]

_LIMIT = 30.0
"""Seconds after which the command is ended."""
_LIMIT_INTERRUPTED = 5.0
"""The same after a signal, when somebody waits for the end."""
_LOOK_EVERY = 5.0
"""Seconds between two looks for new events during a run."""
_ROWS = 10
"""Rows of the ranking that an event has."""


class EventCommand:
    """The command of a tournament, and the events that it has not taken yet.

    Args:
        config: The configuration, with ``on_event``.
        folder: The results folder.
        say: Gets a line about a failure.
    """

    def __init__(self, config: Config, folder: Path, say: Callable[[str], None]) -> None:
        self._command = expanded(config.on_event or ())
        self._working_folder = config.path.absolute().parent
        self._database = folder / FILE_NAME
        self._say = say
        self._taken: set[str] = set()
        self._running: _Running | None = None
        self._next = 0.0
        self._failed = False
        self._begin()

    def poll(self) -> None:
        """Deliver new events without waiting; to be called often during a run."""
        now = time.monotonic()
        if self._running is not None:
            if not self._running.is_over():
                return
            self._finish(self._running)
        if self._failed or now < self._next:
            return
        self._next = now + _LOOK_EVERY
        with suppress(TourneyError), closing(Store(self._database)) as store:
            waiting = self._waiting(store)
            if waiting:
                self._next = now
                self._running = self._start(store, waiting[0], _LIMIT)

    def close(self, error: BaseException | None) -> None:
        """Deliver the events that are left, one after the other, until one is not taken.

        Args:
            error: The error that ended the run, which is an event, too.
        """
        limit = _LIMIT_INTERRUPTED if isinstance(error, Interrupted) else _LIMIT
        try:
            if self._running is not None:
                self._running.wait(limit)
                self._finish(self._running)
            if not self._database.is_file():
                return
            with closing(Store(self._database, create=True, migrate=False)) as store:
                self._log(store, error)
                self._failed = False
                for event in self._waiting(store):
                    if not self._failed:
                        running = self._start(store, event, limit)
                        running.wait(limit)
                        self._finish(running)
                if store.tournament_if_begun() is not None:
                    delivered(store, self._taken)
        except (TourneyError, OSError) as failure:
            self._say(f"note: on_event: {escaped(str(failure), 300)}; the events are kept")
        finally:
            if self._running is not None:
                self._running.end()

    def _begin(self) -> None:
        """Read which events were taken. A command that is new gets no events of the past."""
        with suppress(TourneyError, OSError):
            if self._database.is_file():
                with closing(Store(self._database)) as store:
                    before = delivered(store)
                    if before is None and store.tournament_if_begun() is not None:
                        before = frozenset(event.id for event in all_events(store))
                    self._taken |= before or frozenset()

    @staticmethod
    def _log(store: Store, error: BaseException | None) -> None:
        if store.tournament_if_begun() is None:
            return
        more = []
        if isinstance(error, TourneyError):
            kind = "interrupted" if isinstance(error, Interrupted) else "failed"
            more = [make_event(store, kind, utc_now(), str(error))]
        log_events(store, *more)

    def _waiting(self, store: Store) -> list[Event]:
        if store.tournament_if_begun() is None:
            return []
        return [event for event in all_events(store) if event.id not in self._taken]

    def _start(self, store: Store, event: Event, limit: float) -> _Running:
        document = msgspec.json.encode(_document(store, event))
        return _Running(event, self._command, self._working_folder, document, limit)

    def _finish(self, running: _Running) -> None:
        """Record the result of a command that is over."""
        self._running = None
        why = running.failure()
        if why is None:
            self._taken.add(running.event.id)
            return
        self._failed = True
        self._say(
            f"note: on_event has not taken the event `{running.event.event}`: {why}. The run is not"
            " affected, and the next one gives the event to it again."
        )


class _Running:
    """The command while it handles one event."""

    def __init__(
        self, event: Event, command: tuple[str, ...], folder: Path, document: bytes, limit: float
    ) -> None:
        self.event = event
        self._end = time.monotonic() + limit
        self._limit = limit
        self._late = False
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `failure`
        self._error = ""
        self._process: subprocess.Popen[bytes] | None = None
        with tempfile.TemporaryFile() as given:  # a pipe could block if the command does not read
            given.write(document + b"\n")
            given.seek(0)
            try:
                self._process = subprocess.Popen(
                    command,
                    cwd=folder,
                    stdin=given,
                    stdout=self._output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C is for the run
                )
            except (OSError, ValueError) as error:
                self._error = f"it cannot be started ({getattr(error, 'strerror', None) or error})"

    def is_over(self) -> bool:
        """Return whether it has ended; it is ended if its time is up."""
        if self._process is None or self._process.poll() is not None:
            return True
        if time.monotonic() < self._end:
            return False
        self._late = True
        self.end()
        return True

    def wait(self, limit: float) -> None:
        """Wait until it has ended, `limit` seconds at most."""
        self._end = min(self._end, time.monotonic() + limit)
        while not self.is_over():
            time.sleep(0.02)

    def end(self) -> None:
        """End it together with the processes of its session."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def failure(self) -> str | None:
        """Return why the event was not taken; None if it was."""
        with self._output:
            self._output.seek(0)
            lines = self._output.read(100_000).decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        said = f" ({escaped(last.strip(), 200)})" if last else ""
        if self._error:
            return self._error
        if self._late:
            return f"it took longer than {self._limit:g} s{said}"
        status = self._process.returncode if self._process else 0
        return f"exit status {status}{said}" if status else None


def _document(store: Store, event: Event) -> dict[str, Any]:
    """Return an event for the command: with the site's address, and for results the ranking."""
    document: dict[str, Any] = msgspec.to_builtins(event)
    document["url"] = kept_choices(store).url
    if event.event in {"finished", "changed", "closed"}:
        summary = summarise(store)
        document["complete"] = summary.complete
        document["deals"] = summary.deals
        document["table"] = [
            {
                "rank": row.rank,
                "name": row.name,
                "mu": row.mu,
                "rank_range": row.rank_range,
                "status": row.status,
            }
            for row in summary.entrants[:_ROWS]
        ]
    return document
