"""The results folder, and the lock of the run that writes to it."""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.store import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

__all__ = ["ResultsFolder", "network_type", "refuse_network"]


_MOUNTS = Path("/proc/self/mountinfo")

_NETWORK = frozenset((
    "acfs", "afs", "afpfs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.beegfs",
    "fuse.ceph", "fuse.davfs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys", "fuse.juicefs",
    "fuse.lustre", "fuse.mount-s3", "fuse.moosefs", "fuse.ossfs", "fuse.rclone", "fuse.s3fs",
    "fuse.seaweedfs", "fuse.smbnetfs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb2", "smb3", "smbfs",
))  # fmt: skip
"""File systems on which a results file is not safe: SQLite needs locks between processes and shared
memory for its journal, which networks do not provide reliably."""
_LOCK_TRIES, _LOCK_PAUSE = 3, 0.02
_LOG_CAP = 1 << 20
"""Bytes of one bot's log; later notes are dropped, faults are all in the results file."""


class ResultsFolder:
    """A folder that one run at a time may write to, used as a context.

    The lock is on the folder itself, so it leaves no file and ends with its holder. A context that
    ends before `begin` was called leaves everything as it was before.

    Args:
        path: The folder; created if it does not exist.
        fresh: Whether to move an old one aside first.
        out_option: Whether messages advise ``--out``, which not every command has.

    Raises:
        UsageError: It cannot be created, another run is using it, or it holds other files.
    """

    def __init__(self, path: Path, *, fresh: bool = False, out_option: bool = False) -> None:
        self.path = path
        self._or_elsewhere = ", or give --out another" if out_option else ""
        self._fresh = fresh
        self._lock = -1
        self._made: list[Path] = []
        """The folders that were created, the innermost first."""
        self._new = False
        self.moved_to: Path | None = None

    def __enter__(self) -> Self:
        self._take()
        try:
            if not self.database.exists() and any(self.path.iterdir()):
                os.close(self._lock)
                raise UsageError(
                    f"{self.path}: this folder holds other files and no results; choose"
                    f" another{' with --out' if self._or_elsewhere else ''}"
                )
            if self._fresh and self.database.exists():
                self._move_aside()
            self._new = not self.database.exists()
            self.logs.mkdir(exist_ok=True)
        except OSError as error:
            raise self._refusal(error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # an error here must not hide why the run ended
            if self._new:
                self._undo()
        os.close(self._lock)

    @property
    def database(self) -> Path:
        """The results file."""
        return self.path / FILE_NAME

    @property
    def logs(self) -> Path:
        """The folder of the bots' logs."""
        return self.path / "logs"

    def begin(self) -> None:
        """Mark the folder as one whose contents must not be lost."""
        self._new = False

    def log_path(self, entrant: int, name: str) -> Path:
        """Return the path of a bot's log, which is named by number: names are untrusted text."""
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40]
        return self.logs / f"{entrant + 1:03}-{plain or 'bot'}.log"

    def log(self, entrant: int, name: str, lines: Iterable[str]) -> None:
        """Add to a bot's log, up to its cap.

        Raises:
            RunError: The disk fails.
        """
        path = self.log_path(entrant, name)
        try:
            room = _LOG_CAP - (path.stat().st_size if path.exists() else 0)
            if room <= 0:
                return
            data = "".join(f"{line}\n" for line in lines).encode(errors="replace")[:room]
            with path.open("ab") as file:
                file.write(data)
        except OSError as error:
            if not self.database.exists():
                raise RunError(
                    f"{self.path}: this folder was deleted or moved while it was in use; what was"
                    " stored in it is lost unless there is a copy"
                ) from error
            raise RunError(
                f"{path}: cannot be written ({error.strerror}). The deals that were stored are"
                " safe; make room, then run the same command again to continue."
            ) from error

    def _take(self) -> None:
        """Make the folder, and lock it."""
        try:
            absolute = self._absolute()
            self._made = [path for path in (absolute, *absolute.parents) if not path.exists()]
            refuse_network(self._existing())
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise self._refusal(error) from error
        try:
            _lock(self._lock)
        except BlockingIOError as error:
            os.close(self._lock)
            raise UsageError(
                f"{self.path}: another run is writing here; wait for it{self._or_elsewhere}"
            ) from error
        except OSError as error:
            os.close(self._lock)
            raise UsageError(
                f"{self.path}: this file system cannot lock folders ({error.strerror}); results"
                " belong on a local disk"
            ) from error

    def _refusal(self, error: OSError) -> UsageError:
        """Return the error for a folder in which no results can be kept."""
        return UsageError(
            f"{self.path}: the results cannot be kept here ({error.strerror}); see that files can"
            f" be written there{self._or_elsewhere}"
        )

    def _existing(self) -> Path:
        """Return the folder, or the nearest existing one above it."""
        return next(path for path in (self.path, *self.path.absolute().parents) if path.exists())

    def _absolute(self) -> Path:
        """Return the absolute path without ``.`` and ``..``."""
        return Path(os.path.abspath(self.path))  # noqa: PTH100 - Path.absolute leaves the ``..``

    def _move_aside(self) -> None:
        """Move old results aside."""
        absolute = self._absolute()
        if Path.cwd().is_relative_to(absolute):  # the user's shell is in it
            os.close(self._lock)
            raise UsageError(
                f"{self.path}: --fresh cannot move the folder aside that you are in; leave it, or"
                " give --out another"
            )
        number = 1
        while (aside := absolute.with_name(f"{absolute.name}.old-{number}")).exists():
            number += 1
        absolute.rename(aside)
        self.moved_to = aside
        os.close(self._lock)
        self._take()

    def _undo(self) -> None:
        """Remove every trace of a run that did not begin, and put old results back."""
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.database.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
        self.logs.rmdir()
        for path in self._made:
            path.rmdir()
        if self.moved_to is not None:
            self.moved_to.rename(self._absolute())


def _lock(descriptor: int) -> None:
    """Lock a folder, with retries because ``tourney workers`` takes the lock briefly.

    Raises:
        BlockingIOError: Another process holds it.
    """
    for _ in range(_LOCK_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_LOCK_PAUSE)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def refuse_network(folder: Path) -> None:
    """Make sure that results in a folder are on a local disk.

    Raises:
        UsageError: They are on a network file system.
    """
    with suppress(OSError):  # not on Linux
        kind = network_type(folder, _MOUNTS.read_text(encoding="utf-8", errors="replace"))
        if kind is not None:
            raise UsageError(
                f"{folder}: this is a network file system ({kind}), where the locks of a results"
                " file do not hold and it would be damaged sooner or later. Keep results on a disk"
                " of this machine, and copy them when the run is over (rsync, or tourney"
                " publish for the pages)."
            )


def network_type(folder: Path, mounts: str) -> str | None:
    """Return the type of the network file system that a folder is on; None for any other.

    Args:
        folder: An existing folder.
        mounts: The text of ``/proc/self/mountinfo``; of two mounts in one place the later counts.
    """
    path = folder.resolve()
    kind, depth = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5:
            continue
        mounted = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if path.is_relative_to(mounted) and len(mounted.parts) >= depth:
            kind, depth = kinds[0], len(mounted.parts)
    return kind if kind in _NETWORK else None
