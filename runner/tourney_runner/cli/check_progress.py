"""The progress of `tourney check`."""

from __future__ import annotations

import sys
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

import typer

from tourney_runner.botcheck import Watcher
from tourney_runner.botcheck.check_report import check_lines

if TYPE_CHECKING:
    from tourney_runner.botcheck import Check

__all__ = ["Silent", "Spoken"]

_QUIET = 10.0
"""Seconds without output after which the current check is named, again and again."""


class Silent(Watcher):
    """A watcher that prints nothing, for programs that read the whole report at the end."""

    def begin(self, name: str) -> None:
        """See `Watcher.begin`."""

    def finish(self, check: Check) -> None:
        """See `Watcher.finish`."""


class Spoken(Watcher):
    """A watcher that prints each check as it ends, and names slow ones on a terminal.

    Args:
        bot: The bot on trial.
        verbose: Whether to show the messages of passed checks too.
    """

    def __init__(self, bot: str, *, verbose: bool = False) -> None:
        self._bot = bot
        self._verbose = verbose
        self._doing = ("", monotonic())
        self._over = False
        self._news = Event()
        self._thread = Thread(target=self._remind, name="tourney-waiting", daemon=True)

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._news.set()
        if self._thread.ident is not None:
            self._thread.join()

    def begin(self, name: str) -> None:
        """See `Watcher.begin`."""
        self._doing = (name, monotonic())
        self._news.set()

    def finish(self, check: Check) -> None:
        """See `Watcher.finish`."""
        for line in check_lines(check, verbose=self._verbose):
            typer.echo(line)
        self._news.set()

    def _remind(self) -> None:
        """Print the current check whenever nothing new has come for a while."""
        while not self._over:
            if self._news.wait(_QUIET):
                self._news.clear()
                continue
            name, since = self._doing
            seconds = monotonic() - since
            typer.echo(f"waiting for {self._bot}: {name} ({seconds:.0f} s so far)", err=True)
