"""A bot's sources as one tar file, named by the hash of its contents.

Modes and links travel with it; owners and times do not, so the same sources give the same bytes.
"""

from __future__ import annotations

import shutil
import tarfile
from typing import TYPE_CHECKING

from tourney_runner.bots.cache import slot
from tourney_runner.bots.sources import digest, scan
from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO

    from tourney_runner.bots.sources import Entry

__all__ = ["archive_key", "is_unpacked", "pack", "unpack", "unpacked_folder"]

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
