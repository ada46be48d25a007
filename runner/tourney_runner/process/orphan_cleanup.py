"""Clean up after programs that were killed together with everything that would have cleaned up.

Workers clean up after a killed run, and a run after a killed worker. If both are gone at once, or a
program that plays alone was killed, the next program finds their processes and folders by the
process id of the dead program, which they carry.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from tourney_runner.process.process_tree import MARK, end_tree
from tourney_runner.process.procfs import is_alive, place
from tourney_runner.process.temporary_folders import remove_left_behind

__all__ = ["clean_up"]

_MARKED = re.compile(rf"(?:^|\0){MARK}=(\d+)-\d+-{place()}\0".encode())


def clean_up() -> None:
    """End the bots and remove the folders of programs that are dead. Takes 5 ms."""
    with suppress(OSError), os.scandir("/proc") as entries:  # macOS has no /proc
        for pid in [int(entry.name) for entry in entries if entry.name.isdecimal()]:
            if _is_left(pid):
                end_tree(pid)
    remove_left_behind()


def _is_left(pid: int) -> bool:
    """Return whether a process belongs to a bot whose starter is dead."""
    try:
        found = _MARKED.search(Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:  # it has ended, or belongs to another user
        return False
    return found is not None and not is_alive(int(found[1]))
