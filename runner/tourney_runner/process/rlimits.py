"""The limits that the kernel enforces: those of a bot, and those of this program."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.process.launcher import ResourceLimits

__all__ = ["raise_open_files", "rlimits", "tasks_of_user"]

_OPEN_FILES = 4096
"""The limit of open files that this program requests, for many bots and their meters."""

_NO_CORE = 1
"""A core dump of 1 byte, which is never written. With 0, the kernel would still pass the dump to a
program that collects them (see core(5)), which may keep it."""


def raise_open_files() -> int:
    """Raise this program's limit of open files as far as it needs; return what it is now."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _at_most(_OPEN_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _OPEN_FILES if now == resource.RLIM_INFINITY else now


def rlimits(limits: ResourceLimits, *, processes: int | None = None) -> list[tuple[int, int]]:
    """Return pairs of a ``RLIMIT_*`` and its value, none above this program's own limit.

    Memory is limited as data, not as address space, because node and Java reserve far more
    addresses than they use.

    Args:
        limits: The limits of the bot.
        processes: The maximum number of processes of its user, which exceeds the bot's own limit if
            it shares its user with others; None for no limit.
    """
    wanted = [
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, _NO_CORE),
    ]
    if processes is not None:
        wanted.append((resource.RLIMIT_NPROC, processes))
    if limits.memory is not None:
        wanted.append((resource.RLIMIT_DATA, limits.memory))
    return [(kind, _at_most(value, resource.getrlimit(kind)[1])) for kind, value in wanted]


def tasks_of_user(user: int) -> int:
    """Return the number of a user's processes and threads, as a limit on processes counts them."""
    count = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it ended in the meantime
            if folder.name.isdecimal() and folder.stat().st_uid == user:
                count += len(os.listdir(folder / "task"))  # noqa: PTH208 - only the number
    return count


def _at_most(value: int, ceiling: int) -> int:
    return value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
