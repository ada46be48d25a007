"""The results file as a file: made, opened or refused, written all or none, closed.

It holds JSON values under keys besides the tables that `reading` and `store` know.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tourney_runner.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FILE_NAME", "SCHEMA_VERSION", "ResultsFile"]

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 2

_Value = TypeVar("_Value")
_NOT_BEGUN = "no tournament was begun here"
_NO_JOURNAL = ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY")
"""What SQLite says of a file that asks for a journal where none can be made."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE deals (
    round INTEGER NOT NULL,
    match INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    seating TEXT NOT NULL,
    start INTEGER,
    moves TEXT NOT NULL,
    places TEXT NOT NULL,
    points TEXT NOT NULL,
    times TEXT NOT NULL,
    debug TEXT,
    slow TEXT,
    voids TEXT,
    digest TEXT NOT NULL,
    PRIMARY KEY (round, match, deal)
) WITHOUT ROWID;
CREATE TABLE faults (
    round INTEGER NOT NULL,
    match INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    number INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    entrant INTEGER NOT NULL,
    kind TEXT NOT NULL,
    move INTEGER NOT NULL,
    cause TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    stderr TEXT NOT NULL,
    substituted INTEGER NOT NULL,
    PRIMARY KEY (round, match, deal, number)
) WITHOUT ROWID;
CREATE INDEX faults_by_entrant ON faults (entrant);
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    entrant INTEGER NOT NULL,
    reason TEXT NOT NULL,
    since TEXT,
    from_round INTEGER,
    undone TEXT
);
CREATE TABLE voids (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL
);
"""


class ResultsFile:
    """An open results file.

    Args:
        path: The file; made with an empty schema if it does not exist and `create` is true.
        create: Whether it may be made, and written.

    Raises:
        UsageError: There is no such file, another program or a newer version wrote it, or it can
            be read only where something may be written beside it.
        RunError: The disk fails; the same holds for every method.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._writable = create
        if not create and not path.is_file():
            raise UsageError(f"{path}: there are no results here; `tourney run CONFIG` makes them")
        with self._disk_errors():
            self._db = _connected(path, create=create)
            try:
                self._open(create=create)
            except BaseException:
                self._db.close()
                raise

    def _open(self, *, create: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and version != SCHEMA_VERSION:
            writer = "a newer" if version > SCHEMA_VERSION else "an older"
            raise UsageError(
                f"{self.path}: written by another program or {writer} version of tourney"
                f" (schema {version}, this one reads {SCHEMA_VERSION}); use that version"
            )
        if create:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
        if not tables:
            if not create:
                raise UsageError(f"{self.path}: {_NOT_BEGUN}")
            self._db.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )

    def close(self) -> None:
        """Close the file.

        It is one plain file afterwards, without a journal beside it, unless somebody else is
        reading it: then the journal stays and the next run folds it in.
        """
        with self._disk_errors():
            if self._writable:
                with suppress(sqlite3.OperationalError):
                    self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()

    def meta(self, key: str) -> Any:
        """A value that `set_meta` kept, or None."""
        with self._disk_errors():
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def kept(self, key: str, kind: type[_Value]) -> _Value:
        """A value that is there as soon as something was begun, as what it stands for.

        Args:
            key: Its key.
            kind: A type that msgspec knows.

        Raises:
            UsageError: Nothing was begun here.
        """
        value = self.meta(key)
        if value is None:
            raise UsageError(f"{self.path}: {_NOT_BEGUN}")
        return msgspec.convert(value, kind)

    def set_meta(self, **values: Any) -> None:
        """Keep JSON values under their keys, all or none."""
        with self._transaction():
            self._set_meta(values)

    def _set_meta(self, values: dict[str, Any]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()],
        )

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Say what a failing disk means for the run."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise RunError(
                f"{self.path}: the results cannot be written or read ({error}). What was stored"
                " before is safe. Make room or mend the disk, then run the same command again to"
                " continue."
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._disk_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise


def _connected(path: Path, *, create: bool) -> sqlite3.Connection:
    """A connection through which the file has been looked into."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA user_version")
    except sqlite3.OperationalError as error:
        db.close()
        if create or error.sqlite_errorname not in _NO_JOURNAL:
            raise
        return _without_journal(path)
    except sqlite3.DatabaseError as error:
        db.close()
        raise UsageError(f"{path}: this is no results file ({error})") from error
    return db


def _without_journal(path: Path) -> sqlite3.Connection:
    """Open for reading what was copied from a run that did not end, where nothing may be written.

    Such a file asks for a journal beside it, even if only read. Where there is none, and none can
    be made, nobody writes either, so the file may be taken as one that does not change.
    """
    if not os.access(path, os.R_OK):
        raise UsageError(f"{path}: you may not read this file")
    journal = path.with_name(f"{path.name}-wal")
    if journal.is_file() and journal.stat().st_size:
        raise UsageError(
            f"{path}: the last deals are still in {journal.name}, which can be read only where"
            " something may be written beside it; copy both files into a folder of your own"
        )
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?immutable=1", isolation_level=None, uri=True
    )
