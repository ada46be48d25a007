"""How a run looks while it goes on: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from runner.run.progress import Reporter

if TYPE_CHECKING:
    from runner.run.progress import Progress, Tally

__all__ = ["make_reporter"]

_PLAIN_EVERY = 5.0
_LIVE_EVERY = 0.25
"""Seconds between two looks of a person."""
_ROWS = 20
"""Entrants in the live table."""


def make_reporter() -> Reporter:
    """The reporter that fits where stderr goes."""
    return LiveReporter() if sys.stderr.isatty() else PlainReporter()


def _best_first(progress: Progress) -> list[Tally]:
    played = [tally for tally in progress.tallies if tally.deals]
    return sorted(played, key=lambda tally: (tally.mean_place, tally.name))


def _rates(progress: Progress, seconds: float) -> str:
    return (
        f"{progress.deals / seconds:,.0f} deals/s, {progress.moves / seconds:,.0f} moves/s"
        if progress.deals
        else "no deal yet"
    )


class PlainReporter(Reporter):
    """Lines on stderr, one every few seconds."""

    def __init__(self) -> None:
        self._began = 0.0
        self._told = 0.0
        self._before = 0

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._began = self._told = time.monotonic()
        self._before = progress.done

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        now = time.monotonic()
        if now - self._told < _PLAIN_EVERY:
            return
        self._told = now
        seconds = now - self._began
        parts = [_share(progress), _rates(progress, seconds)]
        if remaining := self._remaining(progress, seconds):
            parts.append(remaining)
        leaders = [f"{tally.name} {tally.mean_place:.2f}" for tally in _best_first(progress)[:3]]
        if leaders:
            parts.append(f"mean places: {', '.join(leaders)}")
        if progress.waiting:
            parts.append(f"waiting for {', '.join(sorted(set(progress.waiting.values())))}")
        self.say("; ".join(parts))

    def end(self) -> None:
        """See `Reporter.end`."""

    def _remaining(self, progress: Progress, seconds: float) -> str:
        new = progress.done - self._before
        if progress.total is None or not new:
            return ""
        left = (progress.total - progress.done) * seconds / new
        return f"{int(left) // 60}:{int(left) % 60:02} left"


def _share(progress: Progress) -> str:
    if progress.total is None:
        return f"{progress.done:,} matches"
    return f"{progress.done:,} of {progress.total:,} matches"


class LiveReporter(Reporter):
    """A bar and the standings so far, drawn in place on the terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bars = Bars(
            TextColumn("matches"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rates]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            auto_refresh=False,
        )
        self._live: Live | None = None
        self._task: TaskID | None = None
        self._began = 0.0
        self._drawn = 0.0

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        self._console.print(Text(line), soft_wrap=True)

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._began = time.monotonic()
        self._task = self._bars.add_task("", total=progress.total, rates="")
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._live.start()

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        now = time.monotonic()
        if self._live is None or self._task is None or now - self._drawn < _LIVE_EVERY:
            return
        self._drawn = now
        rates = _rates(progress, max(0.001, now - self._began))
        self._bars.update(self._task, completed=progress.done, rates=rates)
        waiting = ", ".join(sorted(set(progress.waiting.values())))
        note = Text(f"waiting for {waiting}" if waiting else "", style="yellow")
        self._live.update(Group(_table(progress), self._bars, note), refresh=True)

    def end(self) -> None:
        """See `Reporter.end`."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _table(progress: Progress) -> Table:
    table = Table(title="so far", title_justify="left", box=None)
    table.add_column("bot")
    for title in ("mean place", "points", "deals", "faults"):
        table.add_column(title, justify="right")
    best = _best_first(progress)
    for tally in best[:_ROWS]:
        table.add_row(
            Text(tally.name),
            f"{tally.mean_place:.3f}",
            f"{tally.points:,.0f}",
            f"{tally.deals:,}",
            Text(str(tally.faults), style="red" if tally.faults else "dim"),
        )
    if len(best) > _ROWS:
        table.add_row(Text(f"and {len(best) - _ROWS} more", style="dim"))
    return table
