"""The cache of staged bots: one folder for each version, made once, under a lock.

A version is finished when its marker is there. It is built where it will stay, because many
builds write their own path into what they make. What was left unfinished by a process that died
is unlocked and without a marker, and is removed by whoever comes next.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from tourney_runner.bots.sources import fingerprint
from tourney_runner.process.folder_tree import remove_tree, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Slot", "cache_folder", "slot", "sweep"]

_MARKER = "complete"
_READ_ONLY = 0o555
"""The bits of a mode that are kept: none that let write, or start a program as another user."""


def cache_folder() -> Path:
    """Where staged bots are kept: ``$TOURNEY_CACHE``, or where this system keeps caches."""
    chosen = os.environ.get("TOURNEY_CACHE")
    return Path(chosen).absolute() if chosen else user_cache_path("tourney")


class Slot:
    """The place of one version of a bot, locked while it is in our hands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.folder = path / "bot"
        """The bot's files."""

    def is_complete(self) -> bool:
        """Whether it was finished and is still as it was."""
        try:
            return (self._path / _MARKER).read_text() == fingerprint(self.folder)
        except OSError:
            return False

    def clear(self) -> None:
        """Make it empty, ready to be filled.

        Raises:
            OSError: That cannot be done.
        """
        remove_tree(self._path, must=True)
        # Closed to other users as long as a build may leave programs that run as us.
        self._path.mkdir(mode=0o700)
        self.folder.mkdir(mode=0o755)

    def complete(self) -> None:
        """Make the files read-only and the version usable.

        Raises:
            OSError: That cannot be done.
        """
        for found in walk(self.folder, opens_up=True):
            mode = found.status.st_mode
            if not stat.S_ISLNK(mode):
                os.chmod(found.name, mode & _READ_ONLY, dir_fd=found.folder)
        self.folder.chmod(self.folder.stat().st_mode & _READ_ONLY)
        self._path.chmod(0o755)
        marker = self._path / _MARKER
        unfinished = marker.with_suffix(".new")
        unfinished.write_text(fingerprint(self.folder))
        unfinished.replace(marker)

    def remove(self) -> None:
        """Leave nothing of it."""
        remove_tree(self._path, must=True)


@contextmanager
def slot(cache: Path, key: str) -> Iterator[Slot]:
    """The place of a version, for us alone; waits while another process makes it.

    Raises:
        OSError: The cache cannot be written.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with _lock_path(cache / key).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Slot(cache / key)


def sweep(cache: Path) -> None:
    """Remove versions that were left unfinished by a process that is gone."""
    for path in cache.glob("*/"):
        if (path / _MARKER).exists():
            continue
        with _lock_path(path).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if not (path / _MARKER).exists():
                remove_tree(path, must=True)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")
