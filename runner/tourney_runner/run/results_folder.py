"""The folder of results: whose it is, what is in it, and who may write to it."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.store import FILE_NAME
from tourney_runner.run.filesystem import refuse_network

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

__all__ = ["ResultsFolder"]

_LOG_CAP = 1 << 20
"""Bytes of one bot's log; later notes are dropped, faults are all in the results file."""


class ResultsFolder:
    """A folder that one run at a time may write to, used as a context.

    The lock is on the folder itself, so it leaves no file and ends with its holder. A context
    that ends before `begin` was called leaves everything as it was before.

    Args:
        path: The folder; made if it does not exist.
        fresh: Whether to move an old one aside first.

    Raises:
        UsageError: It cannot be made, another run is using it, or it holds other things.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self._fresh = fresh
        self._lock = -1
        self._made: list[Path] = []
        """The folders that were not there before, the innermost first."""
        self._new = False
        self.moved_to: Path | None = None

    def __enter__(self) -> Self:
        self._take()
        try:
            if not self.database.exists() and any(self.path.iterdir()):
                os.close(self._lock)
                raise UsageError(
                    f"{self.path}: this folder holds other files and no results; give --out another"
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
        with suppress(OSError):  # tidying must not hide why the run ended
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
        """Something is about to be kept here that must not be lost."""
        self._new = False

    def log_path(self, entrant: int, name: str) -> Path:
        """A bot's log; named by number, since names are strangers' text."""
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
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise UsageError(
                f"{self.path}: another run is writing here; wait for it, or give --out another"
            ) from error
        except OSError as error:
            os.close(self._lock)
            raise UsageError(
                f"{self.path}: this file system cannot lock folders ({error.strerror}); give --out"
                " one on a local disk"
            ) from error

    def _refusal(self, error: OSError) -> UsageError:
        """Why no results can be kept in the folder."""
        return UsageError(
            f"{self.path}: the results cannot be kept here ({error.strerror}); see that files can"
            " be written there, or give --out another"
        )

    def _existing(self) -> Path:
        """The folder, or the nearest above it that is there already."""
        return next(path for path in (self.path, *self.path.absolute().parents) if path.exists())

    def _absolute(self) -> Path:
        """The folder, with a name also where it was given as ``.`` or by way of ``..``."""
        return Path(os.path.abspath(self.path))  # noqa: PTH100 - Path.absolute leaves the ``..``

    def _move_aside(self) -> None:
        """Make room for new results."""
        absolute = self._absolute()
        if Path.cwd().is_relative_to(absolute):  # it would be moved from under the user's shell
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
        """Nothing was begun: leave no trace, and have the old results where they were."""
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.database.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
        self.logs.rmdir()
        for path in self._made:
            path.rmdir()
        if self.moved_to is not None:
            self.moved_to.rename(self._absolute())
