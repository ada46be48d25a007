"""What is left of programs that were killed together with all that would have cleaned up.

A run that is killed is cleaned up by its workers, a killed worker by its run. Where both are gone
at once, or a program that plays alone is, the next one finds processes and folders by the number
of the dead that they carry.
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
    """End the bots' processes and remove the folders of programs that are dead; takes 5 ms."""
    with suppress(OSError), os.scandir("/proc") as entries:  # there is none on macOS
        for pid in [int(entry.name) for entry in entries if entry.name.isdecimal()]:
            if _is_left(pid):
                end_tree(pid)
    remove_left_behind()


def _is_left(pid: int) -> bool:
    """Whether a process belongs to a bot whose starter is no more."""
    try:
        found = _MARKED.search(Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:  # it has ended, or is another user's
        return False
    return found is not None and not is_alive(int(found[1]))
