"""Functions for a bot's files: list, hash and copy them.

Files that are not part of the bot are left out, see `bots.ignored`. Symbolic links are kept
as links and must stay inside the folder, except for the interpreter of a virtual environment.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.bots.ignored import read_ignore_rules
from tourney_runner.errors import UsageError
from tourney_runner.process.access import resolver_within
from tourney_runner.process.folder_tree import open_file, walk
from tourney_runner.process.program_finder import NotGrantedError, ProgramError
from tourney_runner.process.sandbox.build_command import MOST_BYTES, MOST_FILES
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tourney_runner.process.folder_tree import Found

__all__ = [
    "ALGORITHM",
    "Entry",
    "copy",
    "digest",
    "file_digest",
    "fingerprint",
    "read_file",
    "scan",
]

ALGORITHM = "tree2-sha256"
"""The name of the hash of a bot: SHA-256 of its files, by the second rule for what is a file of a
bot, and of its command, build, variables and programs. The first rule, whose hashes have no name,
left out only ``.git`` and compiled Python, and counted what editors and systems leave behind.
"""

_CHUNK = 1024 * 1024


class Entry(NamedTuple):
    """One file, link or folder of a bot."""

    path: str
    """The path relative to the bot's folder."""
    kind: str
    """``file``, ``program`` (an executable file), ``link`` or ``folder``."""
    target: str = ""
    """The target of a link, relative to the link's folder."""
    size: int = 0
    """The size of a file in bytes."""


def scan(folder: Path, *, staged: bool = False) -> list[Entry]:
    """Return everything in a bot's folder that is part of the bot, sorted by path.

    Args:
        folder: The bot's folder.
        staged: Whether it is a copy, in which a build may have made files of any name; then only
            the caches of Python are left out. The first rule for hashes did that everywhere.

    Raises:
        UsageError: The folder is too large, a link leads outside, or it contains something that is
            neither a file, a folder nor a link.
        OSError: The folder cannot be read.
    """
    entries: list[Entry] = []
    size = 0
    resolve = resolver_within(str(folder))
    try:
        skip = _is_generated if staged else read_ignore_rules(folder).ignores
        for found in walk(folder, skip=skip):
            entry = _entry(folder, found, resolve)
            size += entry.size
            entries.append(entry)
            if len(entries) > MOST_FILES or size > MOST_BYTES:
                raise UsageError(
                    f"{_named(folder)} holds more than {MOST_FILES} files or "
                    f"{MOST_BYTES >> 20} MiB, all of which would be copied; give the bot a folder "
                    "of its own, with only its files"
                )
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(f"{_named(folder)}: {error.strerror}; make it flatter") from error
        raise
    return sorted(entries)


def read_file(folder: Path, path: str, longest: int) -> bytes:
    """Read a regular file of a bot's folder; links are not followed.

    Args:
        folder: The bot's folder.
        path: The path of the file, relative to the folder.
        longest: The maximum number of bytes to read.

    Raises:
        OSError: The file cannot be read or is not a regular file.
    """
    with os.fdopen(open_file(folder, path), "rb") as stream:
        return stream.read(longest)


def digest(folder: Path, entries: Iterable[Entry]) -> str:
    """Return the SHA-256 (hex) of paths, executable bits and contents, ignoring folders.

    Raises:
        OSError: A file cannot be read or is no longer a regular file.
    """
    total = hashlib.sha256()
    for entry in entries:
        if entry.kind != "folder":
            content = (
                os.fsencode(entry.target)
                if entry.kind == "link"
                else _digest_of(open_file(folder, entry.path)).encode()
            )
            for part in (entry.kind.encode(), os.fsencode(entry.path), content):
                total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 (hex) of a file.

    Raises:
        OSError: The file cannot be read.
    """
    return _digest_of(os.open(path, os.O_RDONLY | os.O_CLOEXEC))


def _digest_of(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def copy(folder: Path, entries: Iterable[Entry], target: Path) -> None:
    """Copy the entries found by `scan` into an existing empty folder.

    The author may change the files during the copy, so links are not followed and no file is copied
    beyond the size found by `scan`.

    Raises:
        OSError: Something cannot be read or written.
    """
    for entry in entries:  # sorted, so a folder comes before its contents
        to = target / entry.path
        match entry.kind:
            case "folder":
                to.mkdir()
            case "link":
                to.symlink_to(entry.target)
            case kind:
                with os.fdopen(open_file(folder, entry.path), "rb") as source, to.open("xb") as new:
                    left = entry.size
                    while left and (data := source.read(min(left, _CHUNK))):
                        new.write(data)
                        left -= len(data)
                to.chmod(0o755 if kind == "program" else 0o644)


def fingerprint(folder: Path) -> str:
    """Return a hash of names, sizes and times, used to notice changes to a finished copy.

    Raises:
        OSError: The folder cannot be read.
    """
    total = hashlib.sha256()
    lines = [
        (found.path, f"{found.status.st_size} {found.status.st_mtime_ns} ")
        for found in walk(folder, skip=_is_generated)
        if not found.is_folder()
    ]
    for path, line in sorted(lines):
        total.update(line.encode() + os.fsencode(path) + b"\0")
    return total.hexdigest()


def _is_generated(path: str, _is_folder: bool) -> bool:  # noqa: FBT001 - as `walk` calls it
    name = path.rpartition(os.sep)[2]
    return name in (".git", "__pycache__") or name.endswith(".pyc")


def _entry(folder: Path, found: Found, resolve: Callable[[str], str]) -> Entry:
    mode = found.status.st_mode
    if stat.S_ISLNK(mode):
        return Entry(found.path, "link", _link_target(folder, found, resolve))
    if stat.S_ISDIR(mode):
        return Entry(found.path, "folder")
    if stat.S_ISREG(mode):
        kind = "program" if mode & stat.S_IXUSR else "file"
        return Entry(found.path, kind, size=found.status.st_size)
    raise UsageError(
        f"{_named(folder / found.path)} is neither a file nor a folder, so it cannot be copied "
        "with the bot; remove it"
    )


def _link_target(folder: Path, found: Found, resolve: Callable[[str], str]) -> str:
    """Return the target of a link for the copy.

    Raises:
        UsageError: The link leads out of the bot's folder. Nothing outside is opened.
    """
    written = os.readlink(found.name, dir_fd=found.folder)
    link = folder / found.path
    try:
        end = resolve(str(link))
    except NotGrantedError as error:
        if _is_interpreter(folder, found.path):
            # The program behind it is checked when the bot starts.
            return written if os.sep not in written else os.path.join(link.parent, written)  # noqa: PTH118
        raise UsageError(
            f"the link {_named(link)} leads out of the bot's folder, to '{escaped(written, 300)}'; "
            "only the folder is copied, so put the file itself there"
        ) from error
    except (FileNotFoundError, NotADirectoryError, ProgramError):
        return written if not written.startswith(os.sep) else _dangling(folder, found, written)
    return os.path.relpath(end, os.path.realpath(link.parent))


def _dangling(folder: Path, found: Found, written: str) -> str:
    """Return the target of an absolute, dangling link into the folder as a relative path."""
    for root in (os.path.abspath(folder), os.path.realpath(folder)):  # noqa: PTH100
        if written.startswith(root + os.sep):
            inside = os.path.relpath(written, root)
            return os.path.relpath(inside, os.path.dirname(found.path) or ".")  # noqa: PTH120
    return written


def _is_interpreter(folder: Path, path: str) -> bool:
    """Return whether a link is the Python interpreter of a virtual environment."""
    place = Path(path)
    settings = place.parent.parent / "pyvenv.cfg"
    if not place.name.startswith("python") or len(place.parts) < 2:
        return False
    try:
        os.close(open_file(folder, str(settings)))
    except OSError:
        return False
    return True


def _named(path: Path) -> str:
    return f"'{escaped(str(path), 500)}'"
