"""Process information and control that Python's standard library lacks; harmless off Linux."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import time
import zlib
from functools import cache
from pathlib import Path

__all__ = [
    "IS_LINUX",
    "become_subreaper",
    "children",
    "contents",
    "die_with_parent",
    "has_exited",
    "has_open",
    "is_alive",
    "place",
    "process_clock",
    "process_cpu_time",
    "proportional_bytes",
    "reaped_cpu_time",
    "resident_bytes",
    "state_and_session",
    "system_call_filters",
    "tasks",
    "threads",
    "user",
    "user_namespace",
]

IS_LINUX = sys.platform == "linux"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def become_subreaper() -> None:
    """Make orphaned descendants of this process its own children, so that it can end them."""
    if IS_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel to send this process a signal when the thread that started it ends."""
    if IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal_number)


def contents(path: str) -> bytes:
    """Return a file of ``/proc``, in 1/3 of the time that `Path` takes. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    found = b""
    try:
        while piece := os.read(descriptor, 1 << 16):  # the kernel returns a long list page by page
            found += piece
    finally:
        os.close(descriptor)
    return found


def children(pid: int) -> list[int]:
    """Return the ids of a process's children; empty if it is gone, or off Linux."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - a glob raises if it vanishes
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        try:
            listing = contents(f"/proc/{pid}/task/{thread}/children")
        except OSError:  # the thread ended in the meantime
            continue
        found.extend(map(int, listing.split()))
    return found


def state_and_session(pid: int) -> tuple[str, int]:
    """Return a process's one-letter state (``Z``: zombie) and its session; empty and 0 if gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", 0
    return fields[0], int(fields[3])


def user(pid: int) -> int | None:
    """Return the real user of a process or zombie; None if it is gone, or off Linux."""
    return _status(pid, b"Uid")


def system_call_filters(pid: int) -> int:
    """Return the number of a process's system call filters, which cannot be removed."""
    return _status(pid, b"Seccomp_filters") or 0


def _status(pid: int, field: bytes) -> int | None:
    """Return the first number of a field; None if the process is gone or has no such field."""
    try:
        found = contents(f"/proc/{pid}/status").partition(b"\n" + field + b":")[2].split(None, 1)
    except OSError:
        return None
    return int(found[0]) if found else None


def user_namespace(pid: int) -> int | None:
    """Return the inode of a process's user namespace, or None if it is not visible."""
    try:
        return os.stat(f"/proc/{pid}/ns/user").st_ino  # noqa: PTH116 - quicker than a Path
    except OSError:
        return None


def process_clock(pid: int) -> int:
    """Return the id of another process's processor-time clock, using the kernel's numbering."""
    return (~pid << 3) | 2


def process_cpu_time(pid: int) -> int:
    """Return the processor time in ns of a process with all its threads; 0 if it is gone."""
    try:
        return time.clock_gettime_ns(process_clock(pid))
    except OSError:
        return 0


def reaped_cpu_time(pid: int) -> int:
    """Return the processor time of ended descendants that a process has waited for.

    The result is in nanoseconds, in steps of 10 ms. Children that are reaped automatically because
    their parent ignores SIGCHLD are not included.
    """
    try:
        fields = contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return (int(fields[13]) + int(fields[14])) * _TICK
    except (OSError, IndexError):
        return 0


def threads(pid: int) -> list[int]:
    """Return the ids of a process's threads; empty if it is gone, or off Linux."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - the names
    except OSError:
        return []


def has_open(pid: int, file: os.stat_result) -> bool:
    """Return whether a process has a file open; True if that cannot be seen.

    Args:
        pid: The process.
        file: Known by its device and inode, which a pipe has as well.
    """
    if _is_same(f"/proc/{pid}/fd/1", file):
        return True
    for thread in threads(pid):  # each may have descriptors of its own
        folder = f"/proc/{pid}/task/{thread}/fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208 - the names
        except PermissionError:
            return True
        except OSError:  # the thread ended in the meantime
            continue
        if any(_is_same(f"{folder}/{name}", file) for name in names):
            return True
    return False


def _is_same(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)  # noqa: PTH116 - quicker than a Path
    except OSError:
        return False


def tasks(pid: int) -> int:
    """Return the number of a process's threads; 0 if it is gone, or off Linux."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - only the number
    except OSError:
        return 0


def resident_bytes(pid: int) -> int:
    """Return the bytes of a process's memory in RAM; 0 if it is gone, or off Linux."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def proportional_bytes(pid: int) -> int:
    """Return the bytes of a process's memory in RAM, with shared pages split among their users.

    The result of `resident_bytes` is returned if the system does not provide this.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return resident_bytes(pid)
    sizes = [int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss:")]
    return sizes[0] if sizes else resident_bytes(pid)


def has_exited(pid: int) -> bool:
    """Return whether a child has ended, without collecting it, so that its id is not reused.

    The result is False if the system cannot tell (macOS before Python 3.13). The end of the child's
    output shows it as well.
    """
    if not hasattr(os, "waitid"):
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def is_alive(pid: int) -> bool:
    """Return whether a process with this id exists, in any state."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


@cache
def place() -> str:
    """Return an id of this host and PID namespace, as hosts and containers may share a folder."""
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{zlib.crc32(f'{platform.node()} {namespace}'.encode()):08x}"
