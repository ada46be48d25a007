"""How much memory is left, for this machine or for the control group that this program is in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["is_short"]

_KEPT_FREE = 8
"""One part in so many is kept free: bots grow while they play, and the host wants to live too."""

_MACHINE = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def is_short() -> bool:
    """Whether less than an eighth of the memory is free; takes 80 µs. Always false off Linux."""
    try:
        return _machine_is_short() or any(_group_is_short(*group) for group in _limited_groups())
    except (OSError, ValueError):
        return False


def _machine_is_short() -> bool:
    table = _MACHINE.read_bytes()
    return _field(table, b"MemAvailable:") * _KEPT_FREE < _field(table, b"MemTotal:")


def _group_is_short(folder: Path, limit: int) -> bool:
    """Files that were read lately count as used, but are given up for what needs the memory."""
    used = int((folder / "memory.current").read_bytes())
    spare = _field((folder / "memory.stat").read_bytes(), b"inactive_file")
    return (limit - used + spare) * _KEPT_FREE < limit


@cache
def _limited_groups() -> list[tuple[Path, int]]:
    """The control groups (version 2) around this program that have a limit, and their limits."""
    found = re.search(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    own = _GROUPS / found[1] if found else _GROUPS
    limited = []
    for folder in (own, *own.parents):
        if not folder.is_relative_to(_GROUPS):
            break
        try:
            limited.append((folder, int((folder / "memory.max").read_text())))
        except (OSError, ValueError):  # the root has none; `max` is no limit
            continue
    return limited


def _field(table: bytes, name: bytes) -> int:
    """The number after a name, in whatever unit the table has."""
    start = table.index(name) + len(name)
    return int(table[start : start + 40].split(None, 1)[0])
