"""For how long a worker has given no sign of life."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["END_AFTER", "TELL_EVERY", "Silence"]

TELL_EVERY = 15.0
"""Seconds of silence after which, over and over, the user is told."""
END_AFTER = 8 * TELL_EVERY
"""Seconds of silence after which a worker is taken for lost; a live one speaks every second. A
multiple, so that its end is told of."""
_LOOKED_AWAY = 5.0
"""Seconds between two looks after which the silence counts from the second: maybe all stood
still, as when the program is stopped and goes on."""


class Silence:
    """Of one worker; all times are those of one clock, in seconds."""

    def __init__(self) -> None:
        self._heard = self._looked = 0.0
        self._told = 0

    def broken(self, now: float) -> None:
        """The worker was heard, or has just been given something to do."""
        self._heard = self._looked = now
        self._told = 0

    def look(self, now: float) -> SilenceReport:
        """How things stand, for a worker that has something to do."""
        if now - self._looked > _LOOKED_AWAY:
            self.broken(now)
        self._looked = now
        seconds = now - self._heard
        times = int(seconds / TELL_EVERY)
        tell, self._told = times > self._told, times
        return SilenceReport(seconds, tell=tell, lost=seconds >= END_AFTER)


class SilenceReport(NamedTuple):
    """What a look at a silent worker shows."""

    seconds: float
    """Of silence."""
    tell: bool
    """Whether it is time to say so."""
    lost: bool
    """Whether the worker is to be ended."""

    def line(self, who: str, doing: str) -> str:
        """What the user is told.

        Args:
            who: The worker.
            doing: What it was given to do, as `run.doing` puts it.
        """
        end = "; it is ended, and that is done again" if self.lost else ""
        return f"{who} has said nothing for {self.seconds:.0f} s while {doing}{end}"
