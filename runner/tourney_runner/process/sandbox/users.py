"""Users for bots when the runner is root: each bot runs as a user that owns nothing.

The ids come from ranges that no account uses, so nothing has to be set up or removed.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections import deque
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, cast

from tourney_runner.errors import RunError
from tourney_runner.process.folder_tree import walk
from tourney_runner.process.launcher import SAFE_PATH
from tourney_runner.process.sandbox.probe_result import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Identities",
    "check_readable",
    "identities",
    "is_root",
    "lend",
    "setpriv",
    "take_back",
]

_RANGES = (
    (1879048192, 1 << 28),  # unused by any convention; holds a share for each process on any Linux
    (61184, 4336),  # reserved for dynamic users; the only one mapped in small containers
)
_SHARE = 64
"""The users per process or thread: 1 << 28 users shared among at most 1 << 22 ids."""


def is_root() -> bool:
    """Return whether this program may act as any user."""
    return os.geteuid() == 0


def setpriv() -> str:
    """Return the path of setpriv, which changes the user.

    Raises:
        UnavailableError: It is not installed.
    """
    found = shutil.which("setpriv", path=SAFE_PATH)
    if found is None:
        raise UnavailableError("setpriv is not installed", "install util-linux")
    return found


class Identities:
    """The users of this program's bots. Each is the id of the user and the group of one bot.

    While a process lives, its id is unique, and so are the 64 users derived from it. A program
    with more bots at a time starts idle threads and uses their ids for 64 more users each. So two
    bots never share a user, except in the narrow range, where the users of two programs may
    coincide. Such bots share a limit on processes.

    Raises:
        UnavailableError: Neither range is mapped here.
    """

    def __init__(self) -> None:
        self._first, self._size = _usable_range()
        self._extending = Lock()
        self._ours = self._share_of(os.getpid())
        self._free = deque(sorted(self._ours))

    @contextmanager
    def user(self) -> Iterator[int]:
        """Provide a user that no other running bot of this program has.

        The context must last until the whole bot is gone.

        Raises:
            RunError: There is no user left.
        """
        number = self._take()
        try:
            yield number
        finally:
            self._free.append(number)  # needs no lock, so no end waits for another start

    def _take(self) -> int:
        with self._extending:
            while not self._free:
                share = self._share_of(_idle_thread())
                self._free.extend(sorted(share - self._ours))  # shares overlap in the narrow range
                self._ours |= share
            return self._free.popleft()

    def _share_of(self, holder: int) -> set[int]:
        """Return the users derived from the id of a process or thread."""
        places = range(holder * _SHARE, (holder + 1) * _SHARE)
        return {self._first + place % self._size for place in places}


@cache
def identities() -> Identities | None:
    """Return the users for all launchers, or None if bots run as this program's own user.

    Raises:
        UnavailableError: See `Identities`.
    """
    return Identities() if is_root() else None


def _idle_thread() -> int:
    """Start a thread that lives as long as this program, and return its id."""
    thread = Thread(target=Event().wait, name="tourney-users", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise RunError(f"there is no user left for another bot: {error}") from error
    return cast("int", thread.native_id)  # set once the thread has started


def _usable_range() -> tuple[int, int]:
    users, groups = _mapped("uid_map"), _mapped("gid_map")
    for first, size in _RANGES:
        last = first + size
        if all(any(a <= first and last <= b for a, b in mapped) for mapped in (users, groups)):
            return first, size
    raise UnavailableError(
        "the runner is root, and there is no other user that a bot could run as",
        "run it as an ordinary user, or in a container that maps 65536 users",
    )


def _mapped(table: str) -> list[tuple[int, int]]:
    """Return the ranges of ids mapped here as (first, end)."""
    lines = Path("/proc/self", table).read_text().splitlines()
    fields = [list(map(int, line.split())) for line in lines]
    return [(inside, inside + size) for inside, _, size in fields]


def check_readable(folder: str) -> None:
    """Check that a bot's own user can read the bot's folder.

    Raises:
        PermissionError: The user cannot read it.
    """
    if os.stat(folder).st_mode & 0o005 != 0o005:  # noqa: PTH116 - beside os.chown
        raise PermissionError(
            f"{folder} must be readable by all: the runner is root, and a bot is not"
        )


def lend(folder: str, user: int) -> None:
    """Give a folder and its contents to a user for a build. Call `take_back` afterwards."""
    os.chown(folder, user, user)
    for found in walk(folder, cuts_off=True):
        os.chown(found.name, user, user, dir_fd=found.folder, follow_symlinks=False)


def take_back(folder: str) -> None:
    """Take a folder back after a build: readable by all, writable only by this user.

    Programs lose the set-user-ID and set-group-ID bits.
    """
    own = os.geteuid(), os.getegid()
    os.chown(folder, *own)
    Path(folder).chmod(Path(folder).stat().st_mode & 0o700 | 0o555)
    for found in walk(folder, cuts_off=True):
        os.chown(found.name, *own, dir_fd=found.folder, follow_symlinks=False)
        mode = found.status.st_mode
        if stat.S_ISLNK(mode):
            continue
        runnable = 0o111 if stat.S_ISDIR(mode) or mode & 0o100 else 0
        os.chmod(found.name, mode & 0o700 | 0o444 | runnable, dir_fd=found.folder)
