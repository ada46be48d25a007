"""The files of this machine that bots may see: those of the system, and those of one program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["System", "View", "system", "tool_folders"]

_TOP_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SETTINGS = ("ld.so.cache", "alternatives", "ssl", "localtime", "java-*")
_NETWORK_SETTINGS = (
    *("resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf"),
    *("services", "protocols", "ca-certificates", "pki"),
)
"""Names and patterns below /etc."""


@dataclass(frozen=True)
class System:
    """The parts of the system that every program needs. Paths have their links resolved."""

    trees: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """Pairs of a link and its target."""
    settings: tuple[str, ...]
    network_settings: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """The files that one program needs beyond the system."""

    folder: str
    """The working directory of the program, links resolved."""
    trees: tuple[str, ...]
    """Files and folders, links resolved."""
    links: tuple[tuple[str, str], ...]
    """Pairs of a link and its target. No link is inside one of the trees."""
    search: tuple[str, ...] = ()
    """Folders of programs that precede the system's in ``PATH``."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables for its tools; ``{home}`` in a value stands for the bot's home."""


@cache
def system() -> System:
    """Return the files that all programs need. Looked up once."""
    trees, links = ["/usr"], []
    for name in _TOP_FOLDERS:
        place = Path("/", name)
        if place.is_symlink():
            links.append((str(place), str(place.readlink())))
        elif place.is_dir():
            trees.append(str(place))
    return System(tuple(trees), tuple(links), _settings(_SETTINGS), _settings(_NETWORK_SETTINGS))


def _settings(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(path) for pattern in patterns for path in sorted(Path("/etc").glob(pattern)))


def tool_folders(tools: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that contain programs among a tournament's granted tools.

    Args:
        tools: Folders of installations or of programs. Single files must be named by path.
    """
    places = (place for tool in tools for place in (f"{tool}/bin", tool))
    return tuple(place for place in places if ":" not in place and os.path.isdir(place))
