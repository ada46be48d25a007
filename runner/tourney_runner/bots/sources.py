"""A bot's files: which they are, their hash, a copy of them.

Left out are ``.git``, ``__pycache__`` and ``*.pyc``. Symbolic links are kept as links and have
to stay inside the folder, except for the interpreter of a virtual environment.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.errors import UsageError
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Entry", "copy", "digest", "file_digest", "fingerprint", "scan"]

MOST_FILES = 20_000
MOST_BYTES = 1024**3


class Entry(NamedTuple):
    """One file, link or folder."""

    path: str
    """Relative to the bot's folder."""
    kind: str
    """``file``, ``program`` (an executable file), ``link`` or ``folder``."""
    target: str = ""
    """Where a link leads, relative to its own folder."""
    size: int = 0
    """Bytes of a file."""


def scan(folder: Path) -> list[Entry]:
    """Everything in a bot's folder, sorted by path.

    Raises:
        UsageError: There is too much of it, a link leads outside, or there is something that is
            neither file nor folder nor link.
        OSError: It cannot be read.
    """
    entries: list[Entry] = []
    size = 0
    for found in _walk(folder):
        entry = _entry(folder, found)
        size += entry.size
        entries.append(entry)
        if len(entries) > MOST_FILES or size > MOST_BYTES:
            raise UsageError(
                f"{_named(folder)} holds more than {MOST_FILES} files or "
                f"{MOST_BYTES // 1024**2} MiB, all of which would be copied; give the bot a folder "
                "of its own, with only its files"
            )
    return sorted(entries)


def digest(folder: Path, entries: Iterable[Entry]) -> str:
    """SHA-256 (hex) of paths, executable bits and contents; folders as such do not count.

    Raises:
        OSError: A file cannot be read.
    """
    total = hashlib.sha256()
    for entry in entries:
        if entry.kind != "folder":
            content = (
                os.fsencode(entry.target)
                if entry.kind == "link"
                else file_digest(folder / entry.path).encode()
            )
            for part in (entry.kind.encode(), os.fsencode(entry.path), content):
                total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def copy(folder: Path, entries: Iterable[Entry], target: Path) -> None:
    """Copy what `scan` found into a folder that is there and empty.

    Raises:
        OSError: Something cannot be read or written.
    """
    for entry in entries:  # sorted, so a folder comes before what is in it
        to = target / entry.path
        match entry.kind:
            case "folder":
                to.mkdir()
            case "link":
                to.symlink_to(entry.target)
            case kind:
                shutil.copyfile(folder / entry.path, to)
                to.chmod(0o755 if kind == "program" else 0o644)


def fingerprint(folder: Path) -> str:
    """A hash of names, sizes and times, to notice when a finished copy was tampered with.

    Raises:
        OSError: It cannot be read.
    """
    total = hashlib.sha256()
    for found in sorted(_walk(folder), key=lambda found: found.path):
        status = found.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            line = f"{status.st_size} {status.st_mtime_ns} "
            total.update(line.encode() + os.fsencode(found.path) + b"\0")
    return total.hexdigest()


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything in a folder but what is left out, a folder before what is in it."""
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        if entry.name in (".git", "__pycache__") or entry.name.endswith(".pyc"):
            continue
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))


def _entry(folder: Path, found: os.DirEntry[str]) -> Entry:
    path = os.path.relpath(found.path, folder)
    status = found.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return Entry(path, "link", _link_target(folder, Path(found.path)))
    if stat.S_ISDIR(status.st_mode):
        return Entry(path, "folder")
    if stat.S_ISREG(status.st_mode):
        kind = "program" if status.st_mode & stat.S_IXUSR else "file"
        return Entry(path, kind, size=status.st_size)
    raise UsageError(
        f"{_named(Path(found.path))} is neither a file nor a folder, so it cannot be copied with "
        "the bot; remove it"
    )


def _link_target(folder: Path, link: Path) -> str:
    """Where a link of the copy has to lead."""
    root = Path(os.path.realpath(folder))
    end = Path(os.path.realpath(link))
    if end == root or root in end.parents:
        return os.path.relpath(end, os.path.realpath(link.parent))
    if link.name.startswith("python") and (link.parent.parent / "pyvenv.cfg").is_file():
        target = str(link.readlink())
        return target if os.sep not in target else str(end)
    raise UsageError(
        f"the link {_named(link)} leads out of the bot's folder, to {_named(end)}; only the folder "
        "is copied, so put the file itself there"
    )


def _named(path: Path) -> str:
    return f"'{escaped(str(path), 500)}'"
