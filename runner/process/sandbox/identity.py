"""Whom a bot runs as when the runner is root: a user of its own that owns nothing.

The numbers come from ranges that no account uses, so nothing has to be set up and nothing stays.
"""

from __future__ import annotations

import os
import shutil
import stat
from itertools import count
from pathlib import Path

from runner.process.launcher import SAFE_PATH
from runner.process.sandbox.finding import UnavailableError

__all__ = ["Identities", "check_readable", "is_root", "lend", "setpriv", "take_back"]

_RANGES = (
    (1879048192, 1 << 28),  # unused by any convention; wide enough for 64 bots of every worker
    (61184, 4336),  # set aside for users that come and go; all that a small container maps
)
_BOTS_A_WORKER = 64


def is_root() -> bool:
    """Whether this program may act as any user."""
    return os.geteuid() == 0


def setpriv() -> str:
    """The program that changes the user.

    Raises:
        UnavailableError: There is none.
    """
    found = shutil.which("setpriv", path=SAFE_PATH)
    if found is None:
        raise UnavailableError("setpriv is not installed", "install util-linux")
    return found


class Identities:
    """Numbers that serve as user and group of one bot each.

    Two bots on one machine share a number only in the narrow range, and then only by chance;
    they share a limit on processes then.

    Raises:
        UnavailableError: Neither range is mapped here.
    """

    def __init__(self) -> None:
        self._first, self._size = _usable_range()
        self._serial = count()

    def next(self) -> int:
        """A number for the next bot."""
        place = os.getpid() * _BOTS_A_WORKER + next(self._serial) % _BOTS_A_WORKER
        return self._first + place % self._size


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
    """The ranges of ids that exist here, each with its end."""
    lines = Path("/proc/self", table).read_text().splitlines()
    fields = [list(map(int, line.split())) for line in lines]
    return [(inside, inside + size) for inside, _, size in fields]


def check_readable(folder: str) -> None:
    """Make sure that a bot's own user can see the bot's folder.

    Raises:
        PermissionError: It cannot.
    """
    if os.stat(folder).st_mode & 0o005 != 0o005:  # noqa: PTH116 - beside os.chown
        raise PermissionError(
            f"{folder} must be readable by all: the runner is root, and a bot is not"
        )


def lend(folder: str, user: int) -> None:
    """Give a folder and all in it to a user, for a build; `take_back` must follow."""
    for path in (folder, *_below(folder)):
        os.chown(path, user, user, follow_symlinks=False)


def take_back(folder: str) -> None:
    """Make a folder ours again after a build: readable by all, writable by none but us.

    Programs lose the bits that would start them as another user.
    """
    for path in (folder, *_below(folder)):
        os.chown(path, os.geteuid(), os.getegid(), follow_symlinks=False)
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            continue
        runnable = 0o111 if stat.S_ISDIR(mode) or mode & 0o100 else 0
        os.chmod(path, mode & 0o700 | 0o444 | runnable)  # noqa: PTH101 - beside os.chown


def _below(folder: str) -> list[str]:
    return [
        os.path.join(place, name)  # noqa: PTH118 - os.walk gives strings, and there may be many
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]
