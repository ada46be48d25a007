"""The cache of staged bots and its index: one folder for each version, made once, under a lock.

A version is finished when its marker file exists. It is built in its final place because many
builds write their own path into their output. A version that a killed process left unfinished
has no marker and no lock. `sweep` removes it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from platformdirs import user_cache_path

from tourney_runner.bots.sources import ALGORITHM, fingerprint
from tourney_runner.play.bot import Bot
from tourney_runner.process.folder_tree import remove_tree, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Slot", "cache_folder", "recall", "remember", "slot", "sweep"]


_MARKER = "complete"
_READ_ONLY = 0o555
"""Permission bits that are kept. Write bits and set-user-ID bits are cleared."""


def cache_folder() -> Path:
    """Return the folder of the cache: ``$TOURNEY_CACHE`` or the user's cache directory."""
    chosen = os.environ.get("TOURNEY_CACHE")
    return Path(chosen).absolute() if chosen else user_cache_path("tourney")


class Slot:
    """The folder of one version of a bot, locked by this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.folder = path / "bot"
        """The bot's files."""

    def is_complete(self) -> bool:
        """Return whether the version was finished and has not changed since."""
        try:
            return (self._path / _MARKER).read_text() == fingerprint(self.folder)
        except OSError:
            return False

    def clear(self) -> None:
        """Empty the folder so that it can be filled.

        Raises:
            OSError: The folder cannot be removed or created.
        """
        remove_tree(self._path, must=True)
        # Closed to other users while a build may leave programs behind that run as this user.
        self._path.mkdir(mode=0o700)
        self.folder.mkdir(mode=0o755)

    def complete(self) -> None:
        """Make the files read-only and mark the version as finished.

        Raises:
            OSError: A file cannot be changed or written.
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
        """Remove the version completely."""
        remove_tree(self._path, must=True)


@contextmanager
def slot(cache: Path, key: str) -> Iterator[Slot]:
    """Lock the folder of a version; wait while another process is building it.

    Raises:
        OSError: The cache cannot be written.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with _lock_path(cache / key).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Slot(cache / key)


def sweep(cache: Path) -> None:
    """Remove unfinished versions whose process has ended."""
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


_FOLDER = "entrants"


def remember(bots: Iterable[Bot], cache: Path | None = None) -> None:
    """Store how bots are started.

    Args:
        bots: Staged bots.
        cache: The cache folder; `bots.cache.cache_folder` if left out.

    Raises:
        OSError: The cache cannot be written.
    """
    folder = (cache or cache_folder()) / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for bot in bots:
        descriptor, unfinished = tempfile.mkstemp(dir=folder)  # readable by this user only
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(bot))
        Path(unfinished).replace(folder / _file_name(bot.hash))


def recall(bot_hash: str, cache: Path | None = None) -> Bot | None:
    """Return the staged bot with that hash, or None if it is no longer in the cache.

    Args:
        bot_hash: The hash; one without the name of its algorithm also finds the same bot under the
            hash that it has today.
        cache: The cache folder; `bots.cache.cache_folder` if left out.
    """
    folder = (cache or cache_folder()) / _FOLDER
    bot = _read(folder / _file_name(bot_hash))
    if bot is None and ":" not in bot_hash:
        bot = _read(folder / _file_name(f"{ALGORITHM}:{bot_hash}"))
    if bot is None or bot_hash not in {bot.hash, bot.digits}:
        return None
    staged = Slot(Path(bot.folder).parent).is_complete() and os.access(bot.command[0], os.X_OK)
    return msgspec.structs.replace(bot, hash=bot_hash) if staged else None


def _file_name(bot_hash: str) -> str:
    return f"{bot_hash.replace(':', '-')}.json"


def _read(path: Path) -> Bot | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Bot)
    except (OSError, msgspec.DecodeError):
        return None
