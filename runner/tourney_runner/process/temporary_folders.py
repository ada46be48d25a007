"""Temporary folders whose names contain the id of the process that they belong to.

The code that makes a folder removes it. If it is interrupted, the folder is removed when the
process ends. Folders of a killed process are found by their names.
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
    """Make an empty temporary folder, which is removed when this process ends at the latest.

    Args:
        kind: The purpose, one word.

    Raises:
        OSError: The folder cannot be made.
    """
    _tidy_up()
    return Path(tempfile.mkdtemp(prefix=temp_prefix(kind)))


@cache
def _tidy_up() -> None:
    """Remove folders of dead processes, and remove this process's own at its end. Runs once."""
    remove_left_behind()
    atexit.register(remove_own)


def temp_prefix(kind: str) -> str:
    """Return the prefix of names of this process's temporary folders; see `make_temp`."""
    return f"tourney-{kind}-{place()}-{os.getpid()}-"


def remove_left_behind() -> None:
    """Remove this user's folders whose processes have ended."""
    _remove(lambda pid: not is_alive(pid))


def remove_own() -> None:
    """Remove this process's folders, including any whose maker was interrupted by a signal."""
    _remove(lambda pid: pid == os.getpid())


def _remove(is_wanted: Callable[[int], bool]) -> None:
    """Remove this user's folders that belong to the processes with certain ids."""
    name = re.compile(rf"tourney-[a-z]+-{place()}-(\d+)-")
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = name.match(entry.name)
            if found is not None and is_wanted(int(found[1])) and _is_ours(entry):
                remove_tree(Path(entry.path))


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
    except OSError:  # another process has just removed it
        return False
    return entry.is_dir(follow_symlinks=False) and owner == os.getuid()
