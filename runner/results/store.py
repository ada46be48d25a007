"""The results file: one SQLite database that everything published is computed from.

A chunk of deals is one transaction, written through to the disk before anybody is told of it.
Rows are inserted under a stable key and never changed, so a deal that is played twice (by a
worker that died after all, say) counts once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from runner.errors import RunError, UsageError
from runner.results.records import (
    DealKey,
    DealRecord,
    Decision,
    FaultRecord,
    Outcome,
    SeatTime,
    SlowMove,
    Void,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["ALL", "FILE_NAME", "SCHEMA_VERSION", "Store"]

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 2

_FULL_STDERR_FAULTS = 20
"""So many faults of a bot are kept with all their stderr, later ones with its tail."""
_STDERR_TAIL = 2000

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

_PLANNED = "planned"
"""The key under which is kept what `Store.planned_from` cannot see in the deals any more."""
ALL = range(2**62)
"""All rounds, or all matches of a round."""
_IN_SPAN = "(round, match) >= (?, ?) AND (round, match) < (?, ?)"

_json = msgspec.json.Encoder().encode
_ints = msgspec.json.Decoder(tuple[int, ...]).decode
_floats = msgspec.json.Decoder(tuple[float, ...]).decode
_times = msgspec.json.Decoder(tuple[SeatTime, ...]).decode
_slow = msgspec.json.Decoder(tuple[SlowMove, ...]).decode
_voids = msgspec.json.Decoder(tuple[str, ...]).decode
_debug = msgspec.json.Decoder(tuple[tuple[int, int, str], ...]).decode
_record_of = msgspec.json.Decoder(DealRecord).decode

_FAULT_COLUMNS = (
    "round, match, deal, number, seat, entrant, kind, move, cause, request, answer, stderr,"
    " substituted"
)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    """Say what a failing disk means for the run."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        raise RunError(
            f"{path}: the results cannot be written or read ({error}). What was stored before is"
            " safe. Make room or mend the disk, then run the same command again to continue."
        ) from error


class Store:
    """An open results file.

    Args:
        path: The file; made with an empty schema if it does not exist and `create` is true.
        create: Whether it may be made, and written.

    Raises:
        UsageError: There is no such file, or another program or a newer version wrote it.
        RunError: The disk fails; the same holds for every method.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._writable = create
        if not create and not path.is_file():
            raise UsageError(f"{path}: there are no results here; `tourney run CONFIG` makes them")
        with _disk_errors(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            self._open(create=create)

    def _open(self, *, create: bool) -> None:
        try:
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{self.path}: this is no results file ({error})") from error
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
                raise UsageError(f"{self.path}: no tournament was begun here")
            self._db.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )

    def close(self) -> None:
        """Close the file.

        It is one plain file afterwards, without a journal beside it, unless somebody else is
        reading it: then the journal stays and the next run folds it in.
        """
        with _disk_errors(self.path):
            if self._writable:
                with suppress(sqlite3.OperationalError):
                    self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()

    def meta(self, key: str) -> Any:
        """A value that `set_meta` kept, or None."""
        with _disk_errors(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_meta(self, **values: Any) -> None:
        """Keep JSON values under their keys, all or none."""
        with self._transaction():
            self._set_meta(values)

    def _set_meta(self, values: dict[str, Any]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()],
        )

    def add(self, records: Iterable[DealRecord]) -> int:
        """Keep deals, all or none; those that are there already are left as they are.

        Returns:
            How many were new.
        """
        with self._transaction():
            return sum(self._add_one(record) for record in records)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _disk_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise

    def exchange(
        self, old: Sequence[DealKey], new: Iterable[DealRecord], reason: str, at: str
    ) -> None:
        """Declare deals void and put others in their place, all or none.

        Rounds that were begun before stay planned from what there was; see `planned_from`.

        Args:
            old: The deals that do not count any more; they are kept beside the others.
            new: What was played instead.
            reason: Why.
            at: When, ISO 8601 in UTC.
        """
        records = list(new)
        with self._transaction():
            voids = [self._add_void(key, reason, at) for key in old]
            if old[0].round < (self.last_round() or 0):
                self._keep_planned(dict(zip(old, voids, strict=True)), records)
            for table in ("deals", "faults"):
                self._db.executemany(
                    f"DELETE FROM {table} WHERE round = ? AND match = ? AND deal = ?",  # noqa: S608 - two names of ours
                    old,
                )
            self._db.execute("DELETE FROM meta WHERE key = 'checkpoint'")
            for record in records:
                self._add_one(record)

    def _add_void(self, key: DealKey, reason: str, at: str) -> int | None:
        """Keep a deal among the void ones; gives its number there."""
        return self._db.execute(
            "INSERT INTO voids (at, reason, record) VALUES (?, ?, ?)",
            (at, reason, _text(self._at(key))),
        ).lastrowid

    def _keep_planned(self, voids: dict[DealKey, int | None], new: list[DealRecord]) -> None:
        """Remember what the rounds after these deals were planned from."""
        kept = self.meta(_PLANNED) or {"voids": [], "later": []}
        later = {DealKey(*key) for key in kept["later"]}
        kept["voids"] += [number for key, number in voids.items() if key not in later]
        kept["later"] = sorted(later | {record.key for record in new})
        self._set_meta({_PLANNED: kept})

    def planned_from(self, number: int) -> list[DealRecord]:
        """The deals of a round as they were when the round after it was begun.

        What a format plans from results it planned from these, whatever was void since.
        """
        kept = self.meta(_PLANNED) or {"voids": [], "later": []}
        later = {DealKey(*key) for key in kept["later"]}
        records = [one for one in self.records(range(number, number + 1)) if one.key not in later]
        with _disk_errors(self.path):
            for void in kept["voids"]:
                row = self._db.execute("SELECT record FROM voids WHERE number = ?", (void,))
                record = _record_of(row.fetchone()[0])
                if record.key.round == number:
                    records.append(record)
        return sorted(records, key=lambda record: record.key)

    def voids(self) -> list[Void]:
        """All deals that were declared void, in the order in which that was done."""
        with _disk_errors(self.path):
            rows = self._db.execute("SELECT at, reason, record FROM voids ORDER BY number")
            return [Void(at, reason, _record_of(record)) for at, reason, record in rows]

    def decide(self, decision: Decision, **values: Any) -> None:
        """Keep a decision; one of the same number is replaced.

        Args:
            decision: The decision; number 0 stands for the next.
            values: For `set_meta`, all or none.
        """
        row = msgspec.structs.astuple(decision)
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (row[0] or None, *row[1:]),
            )
            self._set_meta(values)

    def decisions(self) -> list[Decision]:
        """All decisions, those that were undone included, in their order."""
        with _disk_errors(self.path):
            rows = self._db.execute("SELECT * FROM decisions ORDER BY number").fetchall()
        return [msgspec.convert(row, Decision) for row in rows]

    def damaged(self) -> Iterator[DealKey]:
        """Deals that are not as they were stored.

        Raises:
            RunError: The file as a whole is damaged.
        """
        with _disk_errors(self.path):
            (answer,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise RunError(f"{self.path}: the file is damaged: {answer}")
            for row in self._db.execute("SELECT * FROM deals ORDER BY round, match, deal"):
                if _digest(row[:-1], self._fault_rows(DealKey(*row[:3]))) != row[-1]:
                    yield DealKey(*row[:3])

    def orphans(self) -> int:
        """How many faults there are of deals that are not there."""
        with _disk_errors(self.path):
            row = self._db.execute(
                "SELECT count(*) FROM faults WHERE NOT EXISTS (SELECT 1 FROM deals"
                " WHERE (deals.round, deals.match, deals.deal)"
                " = (faults.round, faults.match, faults.deal))"
            ).fetchone()
        return int(row[0])

    def number(self, key: DealKey) -> int:
        """The number of a deal in schedule order, from 1."""
        with _disk_errors(self.path):
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE (round, match, deal) <= (?, ?, ?)", key
            ).fetchone()
        return int(row[0])

    def last_round(self) -> int | None:
        """The highest number of a round of which something is stored."""
        with _disk_errors(self.path):
            row = self._db.execute("SELECT max(round) FROM deals").fetchone()
        return None if row[0] is None else int(row[0])

    def _at(self, key: DealKey) -> DealRecord:
        row = self._db.execute(
            "SELECT * FROM deals WHERE round = ? AND match = ? AND deal = ?", key
        ).fetchone()
        faults = [_fault(fault) for fault in self._fault_rows(key)]
        return _record(key, row, tuple(faults))

    def _add_one(self, record: DealRecord) -> int:
        row = (
            *record.key,
            _text(record.seating),
            record.start,
            record.moves,
            _text(record.places),
            _text(record.points),
            _text(record.times),
            _text(record.debug) if record.debug else None,
            _text(record.slow) if record.slow else None,
            _text(record.voids) if record.voids else None,
        )
        faults = self._new_faults(record)
        inserted = self._db.execute(
            "INSERT OR IGNORE INTO deals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, _digest(row, faults)),
        ).rowcount
        if inserted and faults:
            self._db.executemany(
                "INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", faults
            )
        return inserted

    def _new_faults(self, record: DealRecord) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for number, fault in enumerate(record.faults):
            before = self._db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM faults WHERE entrant = ? LIMIT ?)",
                (fault.entrant, _FULL_STDERR_FAULTS),
            ).fetchone()[0]
            kept = before + sum(row[5] == fault.entrant for row in rows)
            stderr = fault.stderr if kept < _FULL_STDERR_FAULTS else fault.stderr[-_STDERR_TAIL:]
            rows.append(
                (
                    *record.key,
                    number,
                    fault.seat,
                    fault.entrant,
                    fault.kind,
                    fault.move,
                    fault.cause,
                    fault.request,
                    fault.answer,
                    stderr,
                    int(fault.substituted),
                )
            )
        return rows

    def _fault_rows(self, key: DealKey) -> list[tuple[Any, ...]]:
        return self._db.execute(
            f"SELECT {_FAULT_COLUMNS} FROM faults WHERE round = ? AND match = ? AND deal = ?"  # noqa: S608 - names of ours
            " ORDER BY number",
            key,
        ).fetchall()

    def count(self, rounds: range = ALL) -> int:
        """How many deals there are, in some rounds or in all."""
        with _disk_errors(self.path):
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE round >= ? AND round < ?",
                (rounds.start, rounds.stop),
            ).fetchone()
        return int(row[0])

    def keys(self, rounds: range, deals: int, matches: range = ALL) -> set[DealKey]:
        """The keys of the first `deals` deals of some matches of some rounds."""
        with _disk_errors(self.path):
            rows = self._db.execute(
                f"SELECT round, match, deal FROM deals WHERE {_IN_SPAN} AND deal < ?",  # noqa: S608 - a constant
                (*_span(rounds, matches), deals),
            )
            return {DealKey(*row) for row in rows}

    def records(self, rounds: range = ALL, matches: range = ALL) -> Iterator[DealRecord]:
        """Deals in schedule order, read as they are asked for, without notes."""
        with _disk_errors(self.path):
            for key, row, faults in self._with_faults("*", rounds, matches):
                yield _record(key, row, faults)

    def outcomes(self) -> Iterator[Outcome]:
        """All deals in schedule order, as far as tables need them: read in half the time."""
        with _disk_errors(self.path):
            columns = "round, match, deal, seating, places, points"
            for key, row, faults in self._with_faults(columns, ALL, ALL):
                yield Outcome(key, _ints(row[3]), _ints(row[4]), _floats(row[5]), faults)

    def _with_faults(
        self, columns: str, rounds: range, matches: range
    ) -> Iterator[tuple[DealKey, tuple[Any, ...], tuple[FaultRecord, ...]]]:
        """Deals in schedule order: their keys, columns (the key first) and faults."""
        faults = self._faults(rounds, matches)
        pending = next(faults, None)
        for row in self._db.execute(
            f"SELECT {columns} FROM deals WHERE {_IN_SPAN} ORDER BY round, match, deal",  # noqa: S608 - names of ours
            _span(rounds, matches),
        ):
            key = DealKey(*row[:3])
            own: tuple[FaultRecord, ...] = ()
            while pending is not None and pending[0] == key:
                own = (*own, pending[1])
                pending = next(faults, None)
            yield key, row, own

    def record(self, number: int) -> DealRecord:
        """One deal by its number in schedule order, from 1.

        Raises:
            UsageError: There are not so many.
        """
        with _disk_errors(self.path):
            row = self._db.execute(
                "SELECT * FROM deals ORDER BY round, match, deal LIMIT 1 OFFSET ?", (number - 1,)
            ).fetchone()
            if number < 1 or row is None:
                raise UsageError(f"{self.path}: there is no deal {number}; it has {self.count()}")
            key = DealKey(*row[:3])
            in_round = self._faults(range(key.round, key.round + 1))
            return _record(key, row, tuple(fault for at, fault in in_round if at == key))

    def faulted_throughout(self, rounds: range) -> list[tuple[int, int, str]]:
        """Who failed in every deal of a whole round.

        Returns:
            (round, entrant, kind of the last fault), by round and entrant.
        """
        with _disk_errors(self.path):
            suspects = self._db.execute(
                "SELECT round, entrant, count(DISTINCT match || '/' || deal) FROM faults"
                " WHERE round >= ? AND round < ? GROUP BY round, entrant ORDER BY round, entrant",
                (rounds.start, rounds.stop),
            ).fetchall()
            played = self._played(rounds) if suspects else Counter()
            return [
                (number, entrant, self._last_kind(number, entrant))
                for number, entrant, failed in suspects
                if failed == played[number, entrant]
            ]

    def _played(self, rounds: range) -> Counter[tuple[int, int]]:
        """How many deals each entrant sat at in each round, by (round, entrant)."""
        rows = self._db.execute(
            "SELECT round, seating FROM deals WHERE round >= ? AND round < ?",
            (rounds.start, rounds.stop),
        )
        return Counter((number, entrant) for number, seating in rows for entrant in _ints(seating))

    def _last_kind(self, round_number: int, entrant: int) -> str:
        row = self._db.execute(
            "SELECT kind FROM faults WHERE round = ? AND entrant = ?"
            " ORDER BY match DESC, deal DESC, number DESC LIMIT 1",
            (round_number, entrant),
        ).fetchone()
        return str(row[0])

    def _faults(self, rounds: range, matches: range = ALL) -> Iterator[tuple[DealKey, FaultRecord]]:
        rows = self._db.execute(
            f"SELECT {_FAULT_COLUMNS} FROM faults WHERE {_IN_SPAN}"  # noqa: S608 - names of ours
            " ORDER BY round, match, deal, number",
            _span(rounds, matches),
        )
        for row in rows:
            yield DealKey(*row[:3]), _fault(row)


def _span(rounds: range, matches: range) -> tuple[int, int, int, int]:
    """The arguments of `_IN_SPAN`; only of a single round can it be less than all matches."""
    if matches == ALL:
        return rounds.start, 0, rounds.stop, 0
    return rounds.start, matches.start, rounds.start, matches.stop


def _digest(row: Sequence[Any], faults: Sequence[Sequence[Any]]) -> str:
    """What a deal and its faults must still come to when they are read again."""
    return sha256(_json([row, faults])).hexdigest()[:32]


def _fault(row: Sequence[Any]) -> FaultRecord:
    return msgspec.convert(row[4:], FaultRecord, strict=False)


def _text(value: object) -> str:
    return _json(value).decode()


def _record(key: DealKey, row: tuple[Any, ...], faults: tuple[FaultRecord, ...]) -> DealRecord:
    _, _, _, seating, start, moves, places, points, times, debug, slow, voids, _ = row
    return DealRecord(
        key=key,
        seating=_ints(seating),
        start=start,
        moves=moves,
        places=_ints(places),
        points=_floats(points),
        times=_times(times),
        faults=faults,
        debug=_debug(debug) if debug else (),
        slow=_slow(slow) if slow else (),
        voids=_voids(voids) if voids else (),
    )
