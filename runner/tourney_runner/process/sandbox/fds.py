"""Small things that travel to a wrapper through inherited descriptors, never by its arguments."""

from __future__ import annotations

import os
import select
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Descriptors", "memory_file", "read_until", "two_way_pipe"]


class Descriptors(ExitStack):
    """Descriptors that are open as long as a ``with`` block lasts."""

    def keep(self, descriptor: int) -> int:
        """Have this one closed at the end, too."""
        self.callback(os.close, descriptor)
        return descriptor


def memory_file(content: bytes) -> int:
    """An open file in memory that holds this, to be read from its start."""
    descriptor = os.memfd_create("tourney")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def two_way_pipe() -> int:
    """A pipe that is its own writer.

    Whoever waits to read from it waits for a byte, and does not wake up at the death of the
    other side: that would be the wrong moment to go on.
    """
    with Descriptors() as both:
        reader, _ = map(both.keep, os.pipe())
        return os.open(f"/proc/self/fd/{reader}", os.O_RDWR | os.O_CLOEXEC)


def read_until(descriptor: int, complete: Callable[[bytes], bool], seconds: float) -> bytes:
    """Read until what came is complete, the other side closed, or the time is over."""
    until = time.monotonic() + seconds
    received = b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while not complete(received):
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            break
        data = os.read(descriptor, 65536)
        if not data:
            break
        received += data
    return received
