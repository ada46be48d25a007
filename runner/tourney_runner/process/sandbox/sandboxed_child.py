"""The common parts of confined children, for all sandboxes."""

from __future__ import annotations

import os
import select
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.process.child import Child
from tourney_runner.process.sandbox.users import check_readable, lend, take_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.sandbox.users import Identities

__all__ = ["ConfinedChild", "Descriptors", "memory_file", "read_until", "start_for", "two_way_pipe"]


@dataclass
class ConfinedChild(Child):
    """A child behind a wrapper."""

    loan: ExitStack | None = None
    """Releases its user, and takes back the folder lent to a build's user."""

    def _sweep(self) -> None:
        super()._sweep()
        if self.loan is not None:
            self.loan.close()


def start_for(
    users: Identities | None,
    folder: str,
    *,
    builds: bool,
    start: Callable[[int | None], ConfinedChild],
) -> ConfinedChild:
    """Start a program as its own user, who also owns the folder during a build.

    Args:
        users: The source of users. The user is returned when the whole program is gone. None
            keeps the current user.
        folder: The bot's folder.
        builds: Whether the program writes to the folder.
        start: Starts the program as that user.

    Raises:
        PermissionError: The user could not read the folder.
        RunError: There is no user left.
    """
    if users is None:
        return start(None)
    if not builds:
        check_readable(folder)
    with ExitStack() as loan:
        user = loan.enter_context(users.user())
        if builds:
            loan.callback(take_back, folder)
            lend(folder, user)
        child = start(user)
        child.loan = loan.pop_all()
    return child


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
