"""Processor cores: reserve cores for runs, and hand a core over to a bot.

Cores are claimed so that two runs on one machine do not share a core.

A claim is an abstract Unix socket. The system releases it when its holder ends for any reason, and
nothing is left on disk. Cores can be claimed on Linux only.
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass

from tourney_runner.process.procfs import IS_LINUX

__all__ = ["CAN_PIN", "Core", "Handover", "available", "claim"]

_SHARE = 20
"""Handing over takes at most 1/20 of the time."""
CAN_PIN = IS_LINUX
"""Whether this system can keep a process on a core."""


@dataclass(frozen=True)
class Core:
    """A core that this process holds until `release` or its end."""

    number: int
    _claim: socket.socket

    def release(self) -> None:
        """Release the core."""
        self._claim.close()


def available() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def claim(most: int) -> list[Core]:
    """Claim up to `most` cores that no other run holds; none where cores cannot be pinned."""
    cores: list[Core] = []
    if not CAN_PIN:
        return cores
    for number in sorted(os.sched_getaffinity(0)):
        if len(cores) == most:
            break
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0tourney-core-{number}")
        except OSError:  # another run has it
            holder.close()
            continue
        cores.append(Core(number, holder))
    return cores


class Handover:
    """The decision to give up the core after a request, before waiting for the answer.

    Where worker and bot are pinned to one core, a quick bot has answered by the time the worker
    gets the core back. That saves putting the worker to sleep and waking it: 6 to 8 % of the time
    of a Tien Len move with trivial bots. Other processes on the core get their turns before the
    worker is back, however. So after a slow answer the core is not handed over for twenty times
    the duration of that answer. All bots of a worker share one instance.
    """

    QUICK = 250_000
    """The longest duration of a quick answer in nanoseconds."""

    def __init__(self) -> None:
        one_core = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
        self.after = 0 if one_core else sys.maxsize
        """The time from which the core is handed over again, in `time.monotonic_ns`."""

    def pause(self, asked: int, took: int) -> None:
        """Pause handing over after a slow answer.

        Args:
            asked: The time of the request, as `after`.
            took: The duration of the answer in nanoseconds.
        """
        self.after = max(self.after, asked + took * (_SHARE + 1))
