"""Walk and remove folders that bots have written to.

Such a folder may have any depth, be unreadable to its owner, and change while it is walked. So
nothing here recurses, no path is longer than the system allows, and no link is followed. Each
folder is opened relative to its parent.

The name of a temporary folder contains the id of the process that it belongs to. The code that
makes a folder removes it. If it is interrupted, the folder is removed when the process ends.
Folders of a killed process are found by their names.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import secrets
import stat
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.process.procfs import is_alive, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "MOST_LEVELS",
    "Found",
    "make_temp",
    "open_file",
    "remove_left_behind",
    "remove_own",
    "remove_tree",
    "temp_prefix",
    "walk",
]


MOST_LEVELS = 64
"""The maximum depth of nested folders."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_O_PATH: int | None = getattr(os, "O_PATH", None)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Found(NamedTuple):
    """An entry of a folder, valid until the next step of the walk."""

    path: str
    """The path relative to the walked folder."""
    status: os.stat_result
    """The status of the entry. Links are not followed."""
    name: str
    """The name within its folder."""
    folder: int
    """A descriptor of its folder."""

    def is_folder(self) -> bool:
        """Return whether it is a folder and not a link to one."""
        return stat.S_ISDIR(self.status.st_mode)


def walk(
    folder: str | Path,
    *,
    skip: Callable[[str, bool], bool] = lambda _path, _is_folder: False,
    opens_up: bool = False,
    cuts_off: bool = False,
) -> Iterator[Found]:
    """Yield everything in a folder, each folder before its contents.

    Args:
        folder: The folder.
        skip: Returns whether to leave out a path relative to the folder, with all that is in it.
            The second argument is whether it is a folder.
        opens_up: Whether to make folders readable that their owner cannot read.
        cuts_off: Whether to leave out entries that are deeper than `MOST_LEVELS` or have
            disappeared, instead of raising.

    Raises:
        OSError: A folder cannot be read, or they are nested too deeply (``ELOOP``).
    """
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        todo = [""]
        while todo:
            place = todo.pop()
            try:
                here = _open_folder(root, place, opens_up=opens_up)
            except OSError:
                if cuts_off and place:
                    continue
                raise
            try:
                for found in _content(here, place, skip, cuts_off=cuts_off):
                    yield found
                    if found.is_folder():
                        if found.path.count("/") + 1 < MOST_LEVELS:
                            todo.append(found.path)
                        elif not cuts_off:
                            message = f"folders are nested more than {MOST_LEVELS} deep"
                            raise OSError(errno.ELOOP, message, str(Path(folder, found.path)))
            finally:
                os.close(here)
    finally:
        os.close(root)


def _content(
    here: int, place: str, skip: Callable[[str, bool], bool], *, cuts_off: bool
) -> Iterator[Found]:
    with os.scandir(here) as entries:
        names = [
            entry.name
            for entry in entries
            if not skip(_joined(place, entry.name), entry.is_dir(follow_symlinks=False))
        ]
    for name in names:
        try:
            status = os.stat(name, dir_fd=here, follow_symlinks=False)
        except FileNotFoundError:
            if cuts_off:
                continue
            raise
        yield Found(_joined(place, name), status, name, here)


def _joined(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name


def _open_folder(root: int, path: str, *, opens_up: bool = False) -> int:
    """Open a folder below another one, without following links."""
    here = os.dup(root)
    for name in path.split("/") if path else ():
        above = here
        try:
            try:
                here = os.open(name, _FOLDER, dir_fd=above)
            except PermissionError:
                if not opens_up:
                    raise
                _make_ours(name, above)
                here = os.open(name, _FOLDER, dir_fd=above)
        finally:
            os.close(above)
    return here


def _make_ours(name: str, folder: int) -> None:
    """Give the owner of a folder all rights to it. Links are left alone."""
    if _O_PATH is None:
        os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=False)
        return
    place = os.open(name, _O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{place}", 0o700)
    finally:
        os.close(place)


def open_file(folder: str | Path, path: str) -> int:
    """Open a regular file of a folder for reading, without following any link.

    Args:
        folder: The folder.
        path: The path relative to it.

    Raises:
        OSError: The file cannot be read or is not a regular file (``EINVAL``).
    """
    above, _, name = path.rpartition("/")
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        here = _open_folder(root, above)
    finally:
        os.close(root)
    try:
        descriptor = os.open(name, _FILE, dir_fd=here)
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "this is not a regular file", str(Path(folder, path)))
    return descriptor


def remove_tree(folder: Path, *, must: bool = False) -> None:
    """Remove a folder, no matter how bots have changed it.

    Args:
        folder: The folder. A link is not followed.
        must: Whether to raise if something cannot be removed.

    Raises:
        OSError: Something could not be removed, and `must` is true.
    """
    failures: list[OSError] = []
    with _noted(failures):
        parent = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _remove(folder.name, parent, failures)
        finally:
            os.close(parent)
    if failures and must:
        raise failures[0]


@contextmanager
def _noted(failures: list[OSError]) -> Iterator[None]:
    """Record a failure and continue. A missing file is ignored."""
    try:
        yield
    except FileNotFoundError:
        pass
    except OSError as error:
        failures.append(error)


def _remove(name: str, parent: int, failures: list[OSError]) -> None:
    """Remove a folder of any depth, moving its nested folders to its top one by one."""
    with suppress(PermissionError):  # owned by another user; root may still remove it
        _make_ours(name, parent)
    top = os.open(name, _FOLDER, dir_fd=parent)
    try:
        token, number = secrets.token_hex(8), 0
        todo = _without_files(top, failures)
        while todo:
            below = todo.pop()
            with _noted(failures):
                with suppress(PermissionError):
                    _make_ours(below, top)
                here = os.open(below, _FOLDER, dir_fd=top)
                try:
                    for inner in _without_files(here, failures):
                        number += 1
                        with _noted(failures):
                            with suppress(PermissionError):
                                _make_ours(inner, here)
                            moved = f"{token}-{number}"
                            os.rename(inner, moved, src_dir_fd=here, dst_dir_fd=top)
                            todo.append(moved)
                finally:
                    os.close(here)
                os.rmdir(below, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _without_files(folder: int, failures: list[OSError]) -> list[str]:
    """Remove everything but folders from a folder, and return the folders' names."""
    with os.scandir(folder) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in names:
        if not is_folder:
            with _noted(failures):
                os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in names if is_folder]


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
    _remove_temporary(lambda pid: not is_alive(pid))


def remove_own() -> None:
    """Remove this process's folders, including any whose maker was interrupted by a signal."""
    _remove_temporary(lambda pid: pid == os.getpid())


def _remove_temporary(is_wanted: Callable[[int], bool]) -> None:
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
