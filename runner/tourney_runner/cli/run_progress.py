"""The progress of a run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from tourney_runner.cli.terminal import stdout_console, tell, write_exactly
from tourney_runner.run.progress import Reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.run.progress import Progress, Tally

__all__ = ["JsonReporter", "QuietReporter", "make_reporter", "write_event"]


_PLAIN_FIRST, _PLAIN_GROWTH, _PLAIN_LONGEST = 5.0, 1.3, 600.0
"""Seconds between the first two lines in a file or pipe, the factor by which the gaps grow, and
the longest gap: some 20 lines in the first hour, then 6 an hour."""
_LIVE_EVERY = 0.25
"""Seconds between two updates of the live table."""
_AROUND = 6
"""Lines of the screen that the live table leaves to its heading, the bar and what waits."""


def make_reporter() -> Reporter:
    """Return the reporter that suits stderr."""
    console = Console(stderr=True)
    live = sys.stderr.isatty() and not console.is_dumb_terminal
    return TerminalReporter(console) if live else PlainReporter()


def _best_first(progress: Progress) -> list[Tally]:
    played = [tally for tally in progress.tallies if tally.deals]
    return sorted(played, key=lambda tally: (tally.mean_place, tally.name))


def _rates(progress: Progress, seconds: float) -> str:
    if not progress.deals:
        return "no deal yet"
    return f"{progress.deals / seconds:,.0f} deals/s, {progress.moves / seconds:,.0f} moves/s"


def _clock(seconds: float) -> str:
    """Return a length of time as on a clock; from two days on, in days and hours."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} days {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _TimedReporter(Reporter):
    """The common part of both reporters: the time, and the lines after the end of play."""

    def __init__(self) -> None:
        self._began = 0.0
        self._before = 0
        self._progress: Progress | None = None

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        self._began = time.monotonic()
        self._before = progress.steps[0]
        self._progress = progress

    def end(self) -> None:
        """See `Reporter.end`."""
        progress, self._progress = self._progress, None
        if progress is not None and progress.deals:
            seconds = self._seconds()
            deals = f"{progress.deals:,} deal{'' if progress.deals == 1 else 's'}"
            self.say(f"played {deals} in {_clock(seconds)}; {_rates(progress, seconds)}")

    def so_far(self, progress: Progress) -> None:
        """See `Reporter.so_far`."""
        console = stdout_console()
        best = _best_first(progress)
        if best:
            console.print(_table(best, "the standings so far, by mean place"))

    def _seconds(self) -> float:
        return max(0.001, time.monotonic() - self._began)


class PlainReporter(_TimedReporter):
    """Lines on stderr, at growing distances."""

    def __init__(self) -> None:
        super().__init__()
        self._told = 0.0
        self._gap = _PLAIN_FIRST

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        super().begin(progress)
        self._told = self._began

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        now = time.monotonic()
        if now - self._told < self._gap:
            return
        self._told = now
        self._gap = min(_PLAIN_LONGEST, self._gap * _PLAIN_GROWTH)
        seconds = self._seconds()
        parts = [progress.share, _rates(progress, seconds)]
        if remaining := self._remaining(progress, seconds):
            parts.append(remaining)
        leaders = [f"{tally.name} {tally.mean_place:.2f}" for tally in _best_first(progress)[:3]]
        if leaders:
            parts.append(f"mean places: {', '.join(leaders)}")
        if progress.waiting:
            parts.append(f"waiting for {', '.join(sorted(set(progress.waiting.values())))}")
        self.say("; ".join(parts))

    def _remaining(self, progress: Progress, seconds: float) -> str:
        done, total = progress.steps
        new = done - self._before
        if total is None or not new:
            return ""
        return f"{_clock((total - done) * seconds / new)} left"


class TerminalReporter(_TimedReporter):
    """A bar and the standings so far, drawn in place on the terminal.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._bars = Bars(
            BarColumn(),
            TextColumn("{task.fields[share]}"),
            TextColumn("{task.fields[rates]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            auto_refresh=False,
        )
        self._live: Live | None = None
        self._task: TaskID | None = None
        self._drawn = 0.0

    def say(self, line: str) -> None:
        """See `Reporter.say`."""
        tell(self._console, line)

    def begin(self, progress: Progress) -> None:
        """See `Reporter.begin`."""
        super().begin(progress)
        self._task = self._bars.add_task("", total=progress.steps[1], share="", rates="")
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._live.start()

    def update(self, progress: Progress) -> None:
        """See `Reporter.update`."""
        now = time.monotonic()
        if self._live is None or self._task is None or now - self._drawn < _LIVE_EVERY:
            return
        self._drawn = now
        rates = _rates(progress, self._seconds())
        done = progress.steps[0]
        self._bars.update(self._task, completed=done, share=progress.share, rates=rates)
        waiting = ", ".join(sorted(set(progress.waiting.values())))
        note = Text(f"waiting for {waiting}" if waiting else "", style="yellow", no_wrap=True)
        rows = max(3, self._console.height - _AROUND)
        table = _table(_best_first(progress), "so far", rows)
        self._live.update(Group(table, self._bars, note), refresh=True)

    def end(self) -> None:
        """See `Reporter.end`."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        super().end()


def _table(best: Sequence[Tally], title: str, rows: int | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("bot", overflow="ellipsis" if rows else "fold", no_wrap=rows is not None)
    for heading in ("mean place", "points", "deals", "faults"):
        table.add_column(heading, justify="right", no_wrap=True)
    for tally in best[:rows]:
        table.add_row(
            Text(tally.name),
            f"{tally.mean_place:.3f}",
            f"{tally.points:,.0f}",
            f"{tally.deals:,}",
            Text(str(tally.faults), style="red" if tally.faults else "dim"),
        )
    if rows is not None and len(best) > rows:
        table.add_row(Text(f"and {len(best) - rows} more", style="dim"))
    return table


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
