"""The number of workers of a running tournament, which can be changed from outside.

``tourney workers DIR N`` writes the wanted number into the results folder; the run adapts and
writes back how many it has. The wanted number stays there, so a run that is started again keeps it,
and a paused one stays paused.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.atomic_write import write_whole
from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.store import FILE_NAME
from tourney_runner.text import counted

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MOST_WORKERS", "WorkerCount", "request_workers"]


MOST_WORKERS = 256
_WANTED = "workers.json"
_ACTUAL = "workers-now.json"
_READ_EVERY = 0.5
_POLL = 0.1
_PAUSED = "the run is paused; set a number of workers to go on"


class _Wanted(msgspec.Struct, frozen=True):
    workers: int


class _Actual(msgspec.Struct, frozen=True):
    workers: int | None
    """None on a cluster, where this program cannot change the number."""


class WorkerCount:
    """The wanted number of workers, from the view of a run.

    Args:
        folder: The results folder.
    """

    def __init__(self, folder: Path) -> None:
        self._wanted = folder / _WANTED
        self._actual = folder / _ACTUAL
        self._next = 0.0
        self._last: int | None = None
        self._written: int | None = -1

    def wanted(self) -> int | None:
        """Return the number that was set, 0 for a pause; None if none was."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _READ_EVERY
            self._last = _read(self._wanted)
        return self._last

    def report(self, workers: int | None) -> None:
        """Write the current number of workers; None on a cluster."""
        if workers != self._written:
            self._written = workers
            write_whole(self._actual, msgspec.json.encode(_Actual(workers)).decode() + "\n")

    def close(self) -> None:
        """Remove the number, since there are no workers any more."""
        with suppress(OSError):
            self._actual.unlink(missing_ok=True)


def request_workers(folder: Path, workers: int | None) -> str:
    """Set the number of workers of a run, and wait until it has them.

    Args:
        folder: The results folder.
        workers: The number, 0 to pause; None to remove an earlier one, which does not affect a
            current run.

    Returns:
        A message of one line.

    Raises:
        UsageError: There are no results there, or the run plays on a cluster.
        RunError: The number cannot be written.
    """
    if not (folder / FILE_NAME).is_file():
        raise UsageError(f"{folder}: there are no results here; `tourney run CONFIG` makes them")
    running = _is_running(folder)
    if running and (actual := _read_actual(folder)) is not None and actual.workers is None:
        raise UsageError(
            f"{folder}: this run plays on a Dask cluster; start or stop Dask workers there instead"
        )
    try:
        if workers is None:
            (folder / _WANTED).unlink(missing_ok=True)
            return "the next run has as many workers as its --jobs says"
        wanted = msgspec.json.encode(_Wanted(workers)).decode()
        write_whole(folder / _WANTED, f"{wanted}\n")
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror})") from error
    while running and _is_running(folder):
        if (actual := _read_actual(folder)) is not None and actual.workers == workers:
            return f"the run has {counted(workers, 'worker')} now" if workers else _PAUSED
        time.sleep(_POLL)
    state = f"with {counted(workers, 'worker')}" if workers else "paused"
    return f"no run is going on here; the next one starts {state}"


def _read(path: Path) -> int | None:
    with suppress(OSError, msgspec.DecodeError):
        workers = msgspec.json.decode(path.read_bytes(), type=_Wanted).workers
        if 0 <= workers <= MOST_WORKERS:
            return workers
    return None


def _read_actual(folder: Path) -> _Actual | None:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _ACTUAL).read_bytes(), type=_Actual)
    return None


def _is_running(folder: Path) -> bool:
    """Return whether a run holds the folder's lock, see `run.results_folder`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
