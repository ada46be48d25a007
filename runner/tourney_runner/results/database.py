"""The results file: how it is created, opened, migrated, written and closed.

Besides the tables that `queries` and `store` use, it holds JSON values under keys: the record of
the tournament, and notes, which are values derived from other stored data or private to one
package.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.errors import DamageError, RunError, UsageError
from tourney_runner.results.earlier_schemas import FIRST_SCHEMA, migrate, values_of
from tourney_runner.results.row_codec import SUM_MASK, checksum
from tourney_runner.results.tournament_record import TournamentRecord
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FILE_NAME", "FIRST_WITH_SUMS", "SCHEMA_VERSION", "ResultsFile"]

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 3

_RECORD = "tournament"
"""The key of the tournament's record."""
_NEEDED = "needs"
"""The key of the oldest version of tourney that can read the file."""
_NEEDED_NOW = "0.1.0"
_LOCKS = Path("/proc/locks")
_NOT_BEGUN = "no tournament was begun here"
_PATIENCE = 60.0
"""Seconds to wait for a lock of another program."""
_OF_THE_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
"""Prefixes of SQLite's names for errors that leave stored rows intact."""
FIRST_WITH_SUMS = 3
"""The first schema with sums of checksums."""
SEALED_QUERIES = {
    "meta": "SELECT key, value FROM meta",
    "decisions": "SELECT * FROM decisions ORDER BY number",
    "voids": "SELECT at, reason, record FROM voids ORDER BY number",
}
"""Parts that have one sum over all of their rows, with the query that reads them."""
_PARTS = {"meta": "settings and entrants", "decisions": "rulings", "voids": "void deals"}
_NO_JOURNAL = ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY")
"""SQLite's errors for a file that needs a journal where none can be created."""

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
    outcome_sum INTEGER,
    row_sum INTEGER,
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
CREATE TABLE planned (
    round INTEGER NOT NULL,
    match INTEGER NOT NULL,
    seating TEXT NOT NULL,
    PRIMARY KEY (round, match)
) WITHOUT ROWID;
CREATE TABLE sums (
    part TEXT NOT NULL,
    number INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (part, number)
) WITHOUT ROWID;
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
        path: The file; created with an empty schema if it does not exist and `create` is true.
        create: Whether the file may be created and written. The caller holds the lock of its
            folder. A file of an earlier schema is then migrated, after a backup beside it.
        migrate: Whether it may be migrated.
        checked: Whether damaged rows are refused when they are read. Only a command that reports
            all damage sets this to false.

    Raises:
        UsageError: The file does not exist, it is from another program or a newer version, it may
            not be migrated, or it can be read only where its folder is writable.
        RunError: The disk fails; the same holds for every method.
    """

    def __init__(
        self, path: Path, *, create: bool = False, migrate: bool = True, checked: bool = True
    ) -> None:
        self.path = path
        self._checked = checked
        self._writing = False
        self._added: dict[tuple[str, int], tuple[int, int]] = {}
        """Rows and checksums that a transaction adds to each part and block."""
        self._rewritten: set[str] = set()
        """Other parts that a transaction changes."""
        self.backup: Path | None = None
        """The copy of the file before it was migrated; None if it was not."""
        self._writable = create
        self._decoded: tuple[str, TournamentRecord] | None = None
        if not create and not path.is_file():
            raise UsageError(f"{path}: there are no results here; `tourney run CONFIG` makes them")
        with self._disk_errors():
            self._db = _connected(path, create=create)
            try:
                self._schema = self._open(create=create, may_migrate=migrate)
            except BaseException:
                self._db.close()
                raise

    def _open(self, *, create: bool, may_migrate: bool) -> int:
        """Prepare the connection and return the schema version of the file."""
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables:
            self._refuse_unreadable(version)
        elif not create:
            raise UsageError(f"{self.path}: {_NOT_BEGUN}")
        if not create:
            return version
        if tables and version < SCHEMA_VERSION:
            self._migrate(version, allowed=may_migrate)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if not tables:
            self._db.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
            self.keep_note(_NEEDED, _NEEDED_NOW)
        return SCHEMA_VERSION

    def _refuse_unreadable(self, version: int) -> None:
        if version > SCHEMA_VERSION:
            with suppress(sqlite3.DatabaseError, TypeError, ValueError):
                (value,) = self._db.execute(
                    "SELECT value FROM meta WHERE key = ?", (_NEEDED,)
                ).fetchone()
                raise UsageError(
                    f"{self.path}: written by a newer version of tourney (schema {version}, this"
                    f" one reads up to {SCHEMA_VERSION}); use tourney {json.loads(value)} or later"
                )
        if not FIRST_SCHEMA <= version <= SCHEMA_VERSION:
            writer = "a newer" if version > SCHEMA_VERSION else "an older"
            raise UsageError(
                f"{self.path}: written by another program or {writer} version of tourney"
                f" (schema {version}, this one reads {FIRST_SCHEMA} to {SCHEMA_VERSION}); use that"
                " version"
            )

    def _migrate(self, version: int, *, allowed: bool) -> None:
        """Convert the file to the current schema, after a backup."""
        if not allowed:
            raise UsageError(
                f"{self.path}: written by an older version of tourney (schema {version}); writing"
                f" to it needs schema {SCHEMA_VERSION}. Leave --no-migrate out to have it"
                " converted, after a backup beside it"
            )
        backup = self.path.with_name(f"{self.path.stem}.schema-{version}{self.path.suffix}")
        unfinished = backup.with_name(f"{backup.name}.part")
        unfinished.unlink(missing_ok=True)
        with closing(sqlite3.connect(unfinished)) as copy:
            self._db.backup(copy)
        unfinished.replace(backup)
        with self._transaction():
            try:
                migrate(self._db, version)
            except (KeyError, TypeError, ValueError) as error:
                raise self._damage(
                    f"its description of the tournament cannot be read ({error})"
                ) from error
            self._rewritten |= SEALED_QUERIES.keys()
            self._set_values({_NEEDED: _NEEDED_NOW})
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self.backup = backup

    def close(self) -> None:
        """Close the file.

        It is a single file afterwards, without a journal beside it, unless another process is
        reading it. In that case the journal stays until the next run merges it.
        """
        with self._disk_errors():
            if self._writable:
                with suppress(sqlite3.OperationalError):
                    self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()

    def about(self) -> TournamentRecord:
        """Return the record of a tournament, or of a person's table.

        Raises:
            UsageError: Neither was begun here.
        """
        record = self._record()
        if record is None:
            raise UsageError(f"{self.path}: {_NOT_BEGUN}")
        return record

    def about_if_begun(self) -> TournamentRecord | None:
        """Return the record; None before a tournament or a table was begun here."""
        return self._record()

    def tournament(self) -> TournamentRecord:
        """Return the record of a tournament.

        Raises:
            UsageError: None was begun here, or the deals are those of a person's table.
        """
        record = self.about()
        if record.kind != "tournament":
            raise UsageError(
                f"{self.path}: the deals here are from a person's table (`tourney play`), which is"
                " not a tournament; give another folder"
            )
        return record

    def tournament_if_begun(self) -> TournamentRecord | None:
        """Return the record of a tournament; None before one was begun here.

        Raises:
            UsageError: The deals are those of a person's table.
        """
        return None if self._record() is None else self.tournament()

    def begin(self, record: TournamentRecord) -> None:
        """Store the record of a tournament, replacing an earlier one."""
        with self._transaction():
            self._set_record(record)

    def change(self, **changes: Any) -> None:
        """Change some fields of the record."""
        with self._transaction():
            self._change(changes)

    def note(self, key: str) -> Any:
        """Return a JSON value that `keep_note` stored, or None."""
        text = self._values().get(key)
        try:
            return None if text is None else json.loads(text)
        except ValueError as error:
            raise self._damage(f"the note {key!r} cannot be read ({error})") from error

    def keep_note(self, key: str, value: Any) -> None:
        """Store a JSON value under a key."""
        with self._transaction():
            self._set_values({key: value})

    def _record(self) -> TournamentRecord | None:
        text = self._values().get(_RECORD)
        if text is None:
            return None
        if self._decoded is None or self._decoded[0] != text:
            with self._disk_errors():
                self._decoded = text, msgspec.json.decode(text, type=TournamentRecord)
        return self._decoded[1]

    def _values(self) -> dict[str, str]:
        with self._disk_errors():
            rows = self._sealed_rows("meta")
            try:
                return values_of(dict(rows), self._schema)
            except (KeyError, TypeError, ValueError) as error:
                raise self._damage(
                    f"its description of the tournament cannot be read ({error})"
                ) from error

    def _sealed_rows(self, part: str) -> list[tuple[Any, ...]]:
        """Return all rows of a part, checked against their sum."""
        with self._snapshot():
            rows = self._db.execute(SEALED_QUERIES[part]).fetchall()
            if self._checked and self._schema >= FIRST_WITH_SUMS and part not in self._rewritten:
                stored = self._db.execute(
                    "SELECT rows, sum FROM sums WHERE part = ? AND number = 0", (part,)
                ).fetchone()
                if (stored or (0, 0)) != seal(rows):
                    raise self._damage(f"its {_PARTS[part]} are not as they were stored")
        return rows

    def _broken_seals(self) -> Iterator[str]:
        """Yield a line for each part that does not match its sum."""
        for part, query in SEALED_QUERIES.items():
            stored = self._db.execute(
                "SELECT rows, sum FROM sums WHERE part = ? AND number = 0", (part,)
            ).fetchone()
            if (stored or (0, 0)) != seal(self._db.execute(query).fetchall()):
                yield f"the {_PARTS[part]} are not as they were stored"

    def _damage(self, what: str) -> DamageError:
        return DamageError(
            f"{self.path}: this file is damaged: {what}. No table is made from it. Put a copy from"
            " before in its place, or move the folder aside (tourney run --fresh) to play again;"
            " tourney verify lists everything that is wrong"
        )

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read in one transaction, so that concurrent writes of a run are not seen."""
        outer = self._db.in_transaction
        if not outer:
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.ProgrammingError):  # a reader may be left with a closed file
                if not outer and self._db.in_transaction and not self._writing:
                    self._db.execute("COMMIT")

    def _change(self, changes: dict[str, Any]) -> None:
        if changes:
            self._set_record(msgspec.structs.replace(self.about(), **changes))

    def _set_record(self, record: TournamentRecord) -> None:
        self._set_values({_RECORD: msgspec.to_builtins(record)})

    def _set_values(self, values: dict[str, Any]) -> None:
        self._rewritten.add("meta")
        self._db.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()],
        )

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Convert SQLite errors and undecodable rows into errors of tourney."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise self._damage(f"a row cannot be read ({error})") from error

    def _failure(self, error: sqlite3.DatabaseError) -> RunError:
        """Return the error to raise for an SQLite error."""
        code = getattr(error, "sqlite_errorname", "")
        if not self.path.exists():
            return RunError(_deleted(self.path))
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return RunError(
                f"{self.path}: another program has locked this file for {_PATIENCE:.0f} s"
                f" ({holders(self.path)}). End it, then run the same command again; what was"
                " stored before is safe"
            )
        if code.startswith(_OF_THE_DISK):
            return RunError(
                f"{self.path}: the results cannot be written or read ({error}). What was stored"
                " before is safe. Make room or check the disk, then run the same command again to"
                " continue."
            )
        return self._damage(f"{error}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._disk_errors():
            if not self.path.exists():
                raise RunError(_deleted(self.path))
            if self._db.in_transaction:  # a reader was left before its end
                self._db.execute("COMMIT")
            self._db.execute("BEGIN IMMEDIATE")
            self._writing = True
            try:
                yield
                self._update_sums()
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._writing = False
                self._added.clear()
                self._rewritten.clear()

    def _update_sums(self) -> None:
        """Write the sums of everything that this transaction has changed."""
        self._db.executemany(
            "INSERT INTO sums VALUES (?, ?, ?, ?) ON CONFLICT (part, number) DO UPDATE SET"
            " rows = rows + excluded.rows, sum = (sum + excluded.sum) & ?",
            [
                (*place, rows, total & SUM_MASK, SUM_MASK)
                for place, (rows, total) in self._added.items()
            ],
        )
        for part in self._rewritten:
            rows = self._db.execute(SEALED_QUERIES[part]).fetchall()
            self._db.execute("INSERT OR REPLACE INTO sums VALUES (?, 0, ?, ?)", (part, *seal(rows)))

    def _count_in(self, part: str, block: int, checksum: int, rows: int = 1) -> None:
        """Add a row of a block to the sums, or subtract it if `rows` is -1."""
        before, total = self._added.get((part, block), (0, 0))
        self._added[part, block] = before + rows, total + rows * checksum


def _deleted(path: Path) -> str:
    return (
        f"{path}: the results were deleted or moved while they were in use; what was stored in"
        " them is lost unless there is a copy"
    )


def seal(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """Return the number of rows and the sum of their checksums, independent of their order."""
    checksums = list(map(checksum, rows))
    return len(checksums), sum(checksums) & SUM_MASK


def holders(path: Path) -> str:
    """Describe the processes that hold locks on a results file, as far as /proc shows them."""
    files = [path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")]
    nodes = {str(file.stat().st_ino) for file in files if file.exists()}
    pids: set[str] = set()
    with suppress(OSError):  # not on Linux
        for line in _LOCKS.read_text(encoding="utf-8").splitlines():
            fields = line.split()
            if len(fields) > 5 and fields[5].rpartition(":")[2] in nodes:
                pids.add(fields[4])
    names = []
    for pid in sorted(pids - {str(os.getpid())}):
        with suppress(OSError):
            command = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ")
            names.append(f"process {pid}: {escaped(command.decode(errors='replace').strip(), 80)}")
    return "; ".join(names) or "no process of this machine shows a lock on it"


def _connected(path: Path, *, create: bool) -> sqlite3.Connection:
    """Return a connection to the file, tested by a query."""
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        db.execute("PRAGMA user_version")
    except sqlite3.OperationalError as error:
        db.close()
        if create or error.sqlite_errorname not in _NO_JOURNAL:
            raise
        return _without_journal(path)
    except sqlite3.DatabaseError as error:
        db.close()
        raise UsageError(f"{path}: this is not a results file ({error})") from error
    return db


def _without_journal(path: Path) -> sqlite3.Connection:
    """Open the copy of an unfinished run for reading, in a folder that is not writable.

    Such a file needs a journal beside it, even for reading. If there is none, and none can be
    created, no process can write to it either, so it is safe to open as immutable.
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
