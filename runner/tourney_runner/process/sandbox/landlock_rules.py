"""Landlock rules: the access of a bot to files, encoded for a version of Landlock."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.visible_files import system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.process.launcher import Program
    from tourney_runner.process.visible_files import View

__all__ = ["SCOPES_SINCE", "file_rules", "ruleset"]

SCOPES_SINCE = 6
"""The version of Landlock that blocks signals and abstract sockets to outside processes."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_LATER_RIGHTS = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2

_READ = _READ_FILE | _READ_DIR
_RUN = _READ | _EXECUTE
_USE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV
_OWN = (1 << 16) - 1

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_ABOUT_THE_MACHINE = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version"),
    "/sys/devices/system/cpu",
)
_ABOUT_ITSELF = tuple(  # the whole folder would show the host's connections as well
    f"/proc/self/{name}"
    for name in ("cgroup", "cmdline", "fd", "limits", "maps", "smaps", "stat", "statm", "status")
)


def ruleset(version: int) -> bytes:
    """Return a ``struct landlock_ruleset_attr`` that forbids all access to files that it can.

    The network is left to the filter of system calls, which blocks all of it.
    """
    if version < SCOPES_SINCE:
        return struct.pack("<Q", _known(version))
    return struct.pack("<QQQ", _known(version), 0, _ABSTRACT_SOCKETS | _SIGNALS)


def file_rules(
    version: int, program: Program, view: View, temp: Path | None
) -> list[tuple[str, int]]:
    """Return the exceptions: existing paths, and the rights below each of them.

    Args:
        version: The version of Landlock.
        program: The program, for its rights and for whether it builds.
        view: The files that it needs.
        temp: A folder that it may write to.
    """
    own = [
        *_each(view.trees, _RUN),
        *_each(program.rights.devices, _USE),
        (view.folder, _OWN if program.builds else _RUN),
    ]
    if temp is not None:
        own.append((str(temp), _OWN))
    return [*_of_the_system(version, program.rights.network), *_existing(own, version)]


@cache
def _of_the_system(version: int, network: bool) -> tuple[tuple[str, int], ...]:  # noqa: FBT001 - a key of the cache
    """Return the rules that are the same for all programs. Looked up once."""
    parts = system()
    settings = parts.settings + (parts.network_settings if network else ())
    wanted = [
        *_each(parts.trees, _RUN),
        *_each((*settings, *_ABOUT_THE_MACHINE, *_ABOUT_ITSELF), _READ),
        *_each(_DEVICES, _USE),
    ]
    return tuple(_existing(wanted, version))


def _each(paths: Iterable[str], rights: int) -> list[tuple[str, int]]:
    return [(path, rights) for path in paths]


def _existing(wanted: Iterable[tuple[str, int]], version: int) -> list[tuple[str, int]]:
    return [
        (path, _fitting(path, rights, version)) for path, rights in wanted if Path(path).exists()
    ]


def _fitting(path: str, rights: int, version: int) -> int:
    """Return the rights that this version supports and that fit a path."""
    known = rights & _known(version)
    return known if Path(path).is_dir() else known & _OF_FILES


def _known(version: int) -> int:
    return _FIRST_RIGHTS + sum(right for since, right in _LATER_RIGHTS if version >= since)
