"""Temporary folders that name the process they belong to, so that none outlives it for long.

Whoever makes one removes it. Where that was cut short they go with the process; what a process
left that was killed is found by its name.
"""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.procfs import is_alive, place

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["make_temp", "remove_left_behind", "remove_own", "temp_prefix"]


def make_temp(kind: str) -> Path:
    """Make an empty folder among the temporary files, which this process does not outlive.

    Args:
        kind: What it is for, one word.

    Raises:
        OSError: That cannot be done.
    """
    _tidy_up()
    return Path(tempfile.mkdtemp(prefix=temp_prefix(kind)))


@cache
def _tidy_up() -> None:
    """Once in a process: remove what the dead have left, and see to it that we leave nothing."""
    remove_left_behind()
    atexit.register(remove_own)


def temp_prefix(kind: str) -> str:
    """What the name of a temporary folder of this process begins with; see `make_temp`."""
    return f"tourney-{kind}-{place()}-{os.getpid()}-"


def remove_left_behind() -> None:
    """Remove this user's folders whose processes are gone."""
    _remove(lambda pid: not is_alive(pid))


def remove_own() -> None:
    """Remove this process's folders, also those that nobody knows of: a signal came too soon."""
    _remove(lambda pid: pid == os.getpid())


def _remove(is_wanted: Callable[[int], bool]) -> None:
    """Remove this user's folders that belong to some processes."""
    name = re.compile(rf"tourney-[a-z]+-{place()}-(\d+)-")
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = name.match(entry.name)
            if found is not None and is_wanted(int(found[1])) and _is_ours(entry):
                remove_tree(Path(entry.path))


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
    except OSError:  # somebody else has just removed it
        return False
    return entry.is_dir(follow_symlinks=False) and owner == os.getuid()
