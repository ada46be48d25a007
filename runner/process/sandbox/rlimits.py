"""The limits that the kernel holds each process to, as numbers for `resource`."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.process.launcher import ResourceLimits

__all__ = ["rlimits"]


def rlimits(limits: ResourceLimits, *, processes: int) -> list[tuple[int, int]]:
    """Pairs of a ``RLIMIT_*`` and its value, none above what this program has itself.

    Memory is limited as data, not as address space: node and Java reserve far more addresses
    than they use.

    Args:
        limits: What the bot may use.
        processes: How many processes its user may have, which is more than the bot's own where
            it shares its user with others.
    """
    wanted = [
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ]
    if limits.memory is not None:
        wanted.append((resource.RLIMIT_DATA, limits.memory))
    return [(kind, _at_most(value, resource.getrlimit(kind)[1])) for kind, value in wanted]


def _at_most(value: int, ceiling: int) -> int:
    return value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
