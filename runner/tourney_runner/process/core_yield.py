"""Handing the core over to a bot that has been asked."""

from __future__ import annotations

import os
import sys

__all__ = ["Handover"]

_SHARE = 20
"""Handing over takes at most one part in so many of the time, whoever else wants the core."""


class Handover:
    """Whether to give up the core once a bot has been asked, before waiting for its answer.

    Where both are pinned to one core, a quick bot has answered by the time the worker gets the core
    back, and that saves putting the worker to sleep and waking it: 6 to 8 % of the time of a move
    of Tien Len with trivial bots. Where others want the core too, however, they get their turns
    before the worker is back. So after an answer that was not quick there is none of it for twenty
    times as long as that took. One for all bots of a worker.
    """

    QUICK = 250_000
    """Nanoseconds: an answer that took longer was not quick."""

    def __init__(self) -> None:
        one_core = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
        self.after = 0 if one_core else sys.maxsize
        """When it may be done again, in nanoseconds of `time.monotonic_ns`."""

    def pause(self, asked: int, took: int) -> None:
        """An answer was not quick.

        Args:
            asked: When the request was written, as `after`.
            took: How long the answer took from then on, in nanoseconds.
        """
        self.after = max(self.after, asked + took * (_SHARE + 1))
