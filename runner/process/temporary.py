"""Temporary folders that name the process they belong to, so that none outlives it for long.

Whoever makes one removes it. What a process left that was killed is found by its name.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

__all__ = ["make_temp", "remove_left_behind", "remove_tree", "temp_prefix"]


def make_temp(kind: str) -> Path:
    """Make an empty folder among the temporary files.

    Args:
        kind: What it is for, one word.

    Raises:
        OSError: That cannot be done.
    """
    return Path(tempfile.mkdtemp(prefix=temp_prefix(kind)))


def temp_prefix(kind: str) -> str:
    """What the name of a temporary folder of this process begins with; see `make_temp`."""
    return f"tourney-{kind}-{_place()}-{os.getpid()}-"


def remove_left_behind() -> None:
    """Remove this user's folders whose processes are gone."""
    name = re.compile(rf"tourney-[a-z]+-{_place()}-(\d+)-")
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = name.match(entry.name)
            if found is not None and _is_ours(entry) and not _is_alive(int(found[1])):
                remove_tree(Path(entry.path))


def remove_tree(folder: Path) -> None:
    """Remove a folder that bots have written to, also where they have locked themselves out."""
    with suppress(OSError):
        folder.chmod(0o700)
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(parent, name)  # noqa: PTH118 - os.walk's own kind
            if not os.path.islink(path):  # noqa: PTH114
                with suppress(OSError):
                    os.chmod(path, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def _place() -> str:
    """Where the numbers of processes mean the same: hosts and containers may share a folder."""
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{zlib.crc32(f'{platform.node()} {namespace}'.encode()):08x}"


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
    except OSError:  # somebody else has just removed it
        return False
    return entry.is_dir(follow_symlinks=False) and owner == os.getuid()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
