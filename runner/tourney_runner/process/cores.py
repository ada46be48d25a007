"""Processor cores, claimed so that two runs on one machine do not share one.

A claim is an abstract Unix socket, which the system gives back when its holder ends, however it
ends; nothing stays on the disk. Elsewhere than on Linux there is nothing to claim.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from tourney_runner.process.procfs import IS_LINUX

__all__ = ["CAN_PIN", "Core", "available", "claim"]

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
