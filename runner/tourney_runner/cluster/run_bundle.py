"""The data of a run and archives of its bots, sent to every Dask worker before it plays."""

from __future__ import annotations

import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.bots.cache import slot
from tourney_runner.bots.sources import digest, scan
from tourney_runner.bots.staging import version_name
from tourney_runner.errors import UsageError
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from tourney_runner.bots.sources import Entry
    from tourney_runner.config.models import Entrant
    from tourney_runner.play.bot import Bot
    from tourney_runner.run.worker_process import Setup

__all__ = [
    "BotBundle",
    "RunBundle",
    "archive_key",
    "is_unpacked",
    "pack",
    "pack_run_bundle",
    "unpack",
    "unpacked_folder",
]


_FOLDER = "sources"
_TYPES = {
    "folder": tarfile.DIRTYPE,
    "link": tarfile.SYMTYPE,
    "file": tarfile.REGTYPE,
    "program": tarfile.REGTYPE,
}


def archive_key(folder: Path, *, staged: bool) -> str:
    """Return the name of a folder's archive: SHA-256 (hex) of paths, executable bits and contents.

    Args:
        folder: The bot's folder.
        staged: Whether it is a copy, see `bots.sources.scan`.

    Raises:
        UsageError: The folder has an entry that cannot be copied.
        OSError: It cannot be read.
    """
    return digest(folder, scan(folder, staged=staged))


def pack(folder: Path, file: IO[bytes], *, staged: bool) -> None:
    """Write a folder's archive.

    Args:
        folder: The bot's folder.
        file: For the archive.
        staged: Whether the folder is a copy, see `bots.sources.scan`.

    Raises:
        UsageError: The folder has an entry that cannot be copied.
        OSError: The folder cannot be read, or the file cannot be written.
    """
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in scan(folder, staged=staged):
            member = _member(entry)
            if member.isreg():
                with (folder / entry.path).open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)


def is_unpacked(cache: Path, key: str) -> bool:
    """Return whether this host already has the sources, complete and unchanged."""
    with slot(cache / _FOLDER, key) as place:
        return place.is_complete()


def unpacked_folder(cache: Path, key: str) -> Path:
    """Return the folder of the unpacked sources."""
    return cache / _FOLDER / key / "bot"


def unpack(cache: Path, key: str, file: IO[bytes]) -> None:
    """Unpack an archive into the cache, unless another process has already done so.

    A client of Dask can run any code here anyway, so the paths in the archive are trusted. Its
    contents must match its name.

    Raises:
        UsageError: The contents do not match.
        OSError: The cache cannot be written.
    """
    with slot(cache / _FOLDER, key) as place:
        if place.is_complete():
            return
        place.clear()
        try:
            _extract(file, place.folder)
            _check(place.folder, key)
            place.complete()
        except BaseException:
            place.remove()
            raise


def _check(folder: Path, key: str) -> None:
    if archive_key(folder, staged=True) != key:
        raise UsageError("a bot's files changed while they were sent; run this again")


def _member(entry: Entry) -> tarfile.TarInfo:
    member = tarfile.TarInfo(entry.path)
    member.type = _TYPES[entry.kind]
    member.mode = 0o644 if entry.kind == "file" else 0o755
    member.size = entry.size
    member.linkname = entry.target
    return member


def _extract(file: IO[bytes], target: Path) -> None:
    with tarfile.open(fileobj=file, mode="r:") as tar:
        for member in tar:
            to = target / member.name
            content = tar.extractfile(member) if member.isreg() else None
            if member.issym():
                to.symlink_to(member.linkname)
            elif content is None:
                to.mkdir()
            else:
                with to.open("wb") as copy:
                    shutil.copyfileobj(content, copy)
                to.chmod(member.mode)


@dataclass(frozen=True)
class BotBundle:
    """One bot of a run."""

    bot: Bot
    """The bot as it was staged on the machine that runs the tournament."""
    entrant: Entrant | None
    """The entrant for each host to stage. None if the sources are gone or have changed since the
    bot joined: then the staged copy itself is sent."""
    folder: Path | None
    """The files to be sent, on the machine of the runner; None if it needs none."""
    archive: str | None
    """The key of their archive."""

    def moved(self, folder: Path) -> Bot:
        """Return the staged copy at another place."""
        old, new = self.bot.folder, str(folder)
        command = tuple(
            new + word.removeprefix(old) if Path(word).is_relative_to(old) else word
            for word in self.bot.command
        )
        return msgspec.structs.replace(self.bot, folder=new, command=command)


@dataclass(frozen=True)
class RunBundle:
    """The data of a run without the bots' files, which are sent only where they are missing."""

    run: str
    """The unique name of this run on the cluster."""
    setup: Setup
    """The setup of workers; each host replaces commands and folders with its own."""
    bots: dict[int, BotBundle]
    """The bots that may play, by number."""
    pin: bool

    @property
    def names(self) -> dict[int, str]:
        """The names of the bots, by number."""
        return {number: bot_bundle.bot.name for number, bot_bundle in self.bots.items()}


def pack_run_bundle(
    run: str, setup: Setup, entrants: Sequence[Entrant], bots: Sequence[Bot], *, pin: bool
) -> RunBundle:
    """Return the data that every host needs.

    Args:
        run: The name of the run on the cluster.
        setup: The setup of a worker on this machine.
        entrants: All entrants, by number.
        bots: The same, staged on this machine; bots without a command no longer play.
        pin: Whether worker programs are kept on cores of their own.

    Raises:
        UsageError: A bot's files can no longer be read.
    """
    bundles = {
        bot.number: _bot_bundle(entrant, bot)
        for entrant, bot in zip(entrants, bots, strict=True)
        if bot.command
    }
    return RunBundle(run, setup, bundles, pin)


def _bot_bundle(entrant: Entrant, bot: Bot) -> BotBundle:
    staged = Path(bot.folder)
    try:
        if entrant.folder is None and entrant.command != bot.command:
            return BotBundle(bot, entrant, None, None)
        if entrant.folder is not None:
            key = archive_key(entrant.folder, staged=False)
            if version_name(entrant, key) == staged.parent.name:
                return BotBundle(bot, entrant, entrant.folder, key)
        return BotBundle(bot, None, staged, archive_key(staged, staged=True))
    except OSError as error:
        raise UsageError(
            f"the bot {shown(bot.name)} cannot be sent: {escaped(str(error), 500)}"
        ) from error
