"""Detection of silent workers, and the messages about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.run.worker_process import Chunk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tourney_runner.run.worker_process import Task

__all__ = ["END_AFTER", "REPORT_EVERY", "Silence", "SilenceReport", "describe_task"]

REPORT_EVERY = 15.0
"""Seconds of silence between two messages to the user."""
END_AFTER = 8 * REPORT_EVERY
"""Seconds of silence after which a worker counts as lost; a live one writes every second. It is a
multiple of `REPORT_EVERY`, so that the end of a worker is reported too."""
_CHECK_GAP = 5.0
"""Seconds between two checks after which the silence starts again: probably this program itself
was stopped and continued."""


class Silence:
    """The silence of one worker. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._heard = self._checked = 0.0
        self._reported = 0

    def restart(self, now: float) -> None:
        """Measure from now on: the worker was heard, or has just been given a task."""
        self._heard = self._checked = now
        self._reported = 0

    def check(self, now: float) -> SilenceReport:
        """Return how long a worker that has a task has been silent."""
        if now - self._checked > _CHECK_GAP:
            self.restart(now)
        self._checked = now
        seconds = now - self._heard
        times = int(seconds / REPORT_EVERY)
        due, self._reported = times > self._reported, times
        return SilenceReport(seconds, due=due, lost=seconds >= END_AFTER)


class SilenceReport(NamedTuple):
    """The result of one check of a silent worker."""

    seconds: float
    """The length of the silence."""
    due: bool
    """Whether it is time for a message to the user."""
    lost: bool
    """Whether the worker is to be ended."""

    def line(self, who: str, doing: str) -> str:
        """Return the message to the user.

        Args:
            who: The worker.
            doing: Its task, as `describe_task` writes it.
        """
        end = "; it is ended, and the task is done again" if self.lost else ""
        return f"{who} has been silent for {self.seconds:.0f} s while {doing}{end}"


def describe_task(task: Task, names: Mapping[int, str]) -> str:
    """Return a worker's task in words that follow *while*.

    Args:
        task: The task.
        names: The names of the bots, by number.
    """
    if not isinstance(task, Chunk):
        return f"starting the bot {names[task.entrant]!r} to check it"
    first, *others = task.matches
    seated = ", ".join(names[entrant] for entrant in first.seating)
    more = f" and {len(others)} more" if others else ""
    return f"playing round {first.round + 1}, match {first.match + 1} ({seated}){more}"
