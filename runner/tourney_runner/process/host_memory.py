"""The free memory of this machine and of the control groups around this program."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["is_short"]

_KEPT_FREE = 8
"""The reciprocal of the share of memory to keep free, as bots grow while they play."""

_MACHINE = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def is_short() -> bool:
    """Return whether less than 1/8 of the memory is free. Takes 80 µs; always false off Linux."""
    try:
        return _machine_is_short() or any(_group_is_short(*group) for group in _limited_groups())
    except (OSError, ValueError):
        return False


def _machine_is_short() -> bool:
    table = _MACHINE.read_bytes()
    return _field(table, b"MemAvailable:") * _KEPT_FREE < _field(table, b"MemTotal:")


def _group_is_short(folder: Path, limit: int) -> bool:
    """Return whether a group is short of memory. Recently read files count as free."""
    used = int((folder / "memory.current").read_bytes())
    spare = _field((folder / "memory.stat").read_bytes(), b"inactive_file")
    return (limit - used + spare) * _KEPT_FREE < limit


@cache
def _limited_groups() -> list[tuple[Path, int]]:
    """Return the limited control groups (version 2) around this program, with their limits."""
    found = re.search(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    own = _GROUPS / found[1] if found else _GROUPS
    limited = []
    for folder in (own, *own.parents):
        if not folder.is_relative_to(_GROUPS):
            break
        try:
            limited.append((folder, int((folder / "memory.max").read_text())))
        except (OSError, ValueError):  # the root has no limit; `max` means unlimited
            continue
    return limited


def _field(table: bytes, name: bytes) -> int:
    """Return the number after a name, in the table's unit."""
    start = table.index(name) + len(name)
    return int(table[start : start + 40].split(None, 1)[0])
