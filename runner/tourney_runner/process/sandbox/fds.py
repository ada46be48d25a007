"""Helpers for descriptors, by which data is passed to a wrapper instead of arguments."""

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
    """A context in which descriptors stay open."""

    def keep(self, descriptor: int) -> int:
        """Close a descriptor at the end of the context as well, and return it."""
        self.callback(os.close, descriptor)
        return descriptor


def memory_file(content: bytes) -> int:
    """Return an open file in memory with this content, positioned at its start."""
    descriptor = os.memfd_create("tourney")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def two_way_pipe() -> int:
    """Return a descriptor that is both ends of a pipe.

    A process that reads from it waits for a byte, and does not wake up when the other side dies,
    which would be the wrong moment to continue.
    """
    with Descriptors() as both:
        reader, _ = map(both.keep, os.pipe())
        return os.open(f"/proc/self/fd/{reader}", os.O_RDWR | os.O_CLOEXEC)


def read_until(descriptor: int, complete: Callable[[bytes], bool], seconds: float) -> bytes:
    """Read until the data is complete, the other side has closed, or the time is over."""
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
