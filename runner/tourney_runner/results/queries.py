"""Queries that read deals from the results file, lazily and in schedule order."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.database import FIRST_WITH_SUMS, ResultsFile
from tourney_runner.results.records import UNPLAYED, DealKey, DealOutcome
from tourney_runner.results.row_codec import (
    DEAL_COLUMNS,
    FAULT_COLUMNS,
    OUTCOME_COLUMNS,
    SUM_MASK,
    block_of,
    fault_of,
    is_whole,
    outcome_of,
    record_of,
    round_of,
    row_checksum,
    row_checksums,
    rows_of,
    seating_of,
    whole_blocks,
)
from tourney_runner.text import counted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from tourney_runner.errors import DamageError
    from tourney_runner.results.records import DealRecord, FaultKind
    from tourney_runner.results.row_codec import Row

__all__ = ["ALL", "StoredDeals"]

ALL = range(2**62)
"""All rounds, or all matches of a round."""
_MOST_ROUNDS, _MOST_MATCHES = 2**30, 2**38 - 1
"""Bounds of the numbers that `block_of` can combine."""
_BATCH = 2000
"""Rows that are checked together."""
_NOUNS = {"deals": "deals", "faults": "faults", "planned": "planned tables"}
_NAMED = 5
"""Rounds that a message lists."""
_PLAN_COLUMNS = "round, match, seating"
_IN_SPAN = "(round, match) >= (?, ?) AND (round, match) < (?, ?)"


class _Part(NamedTuple):
    """Columns of a table of the file, with the name of the sums of their checksums."""

    name: str
    """The value in the column ``part`` of the sums."""
    table: str
    columns: str
    """The round and the match first."""
    order: str
    row_sum: str | None = None
    """The column with the checksum of each row."""


_ALL_COLUMNS = _Part("deals", "deals", DEAL_COLUMNS, "round, match, deal", "row_sum")
_OUTCOMES = _Part("outcomes", "deals", OUTCOME_COLUMNS, "round, match, deal", "outcome_sum")
_FAULTS = _Part("faults", "faults", FAULT_COLUMNS, "round, match, deal, number")
_PLAN = _Part("planned", "planned", _PLAN_COLUMNS, "round, match")


class StoredDeals(ResultsFile):
    """The deals of an open results file."""

    def count(self, rounds: range = ALL) -> int:
        """Return the number of deals, in some rounds or in all."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE round >= ? AND round < ?",
                (rounds.start, rounds.stop),
            ).fetchone()
        return int(row[0])

    def number(self, key: DealKey) -> int:
        """Return the number of a deal in schedule order, from 1."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE (round, match, deal) <= (?, ?, ?)", key
            ).fetchone()
        return int(row[0])

    def last_round(self) -> int | None:
        """Return the highest round with stored deals, or None."""
        with self._disk_errors():
            row = self._db.execute("SELECT max(round) FROM deals").fetchone()
        return None if row[0] is None else int(row[0])

    def keys(self, rounds: range, deals: int, matches: range = ALL) -> set[DealKey]:
        """Return the keys of the first `deals` deals of some matches of some rounds."""
        with self._disk_errors():
            rows = self._db.execute(
                f"SELECT round, match, deal FROM deals WHERE {_IN_SPAN} AND deal < ?",  # noqa: S608 - a constant
                (*_span(rounds, matches), deals),
            )
            return {DealKey(*row) for row in rows}

    def records(self, rounds: range = ALL, matches: range = ALL) -> Iterator[DealRecord]:
        """Yield deals in schedule order, without notes.

        Raises:
            DamageError: A deal is damaged or missing.
        """
        with self._disk_errors(), self._snapshot():
            self._check_old_file()
            for row, faults in self._with_faults(_ALL_COLUMNS, rounds, matches):
                if self._checked and not self._has_sums and not is_whole(row, faults):
                    raise self._damaged_deal(row)
                record = record_of(DealKey(*row[:3]), row, tuple(map(fault_of, faults)))
                yield record if self._checked else _of_right_types(record)

    def outcomes(self, rounds: range = ALL) -> Iterator[DealOutcome]:
        """Yield deals in schedule order with only the fields that tables need, in half the time.

        Raises:
            DamageError: A deal is damaged or missing.
        """
        if not self._has_sums:
            for record in self.records(rounds):
                key, seating, places = record.key, record.seating, record.places
                yield DealOutcome(key, seating, places, record.points, record.faults)
            return
        with self._disk_errors(), self._snapshot():
            for row, faults in self._with_faults(_OUTCOMES, rounds, ALL):
                yield outcome_of(DealKey(*row[:3]), row, tuple(map(fault_of, faults)))

    @property
    def _has_sums(self) -> bool:
        return self._schema >= FIRST_WITH_SUMS

    def digest(self) -> str | None:
        """Return a digest of everything stored, without reading the deals.

        It differs after any change, but does not show damage. It is None for a file of an earlier
        version, which has no sums.
        """
        if not self._has_sums:
            return None
        with self._disk_errors():
            sums = self._db.execute("SELECT * FROM sums ORDER BY part, number").fetchall()
        return hashlib.sha256(repr(sums).encode()).hexdigest()

    def lost(self) -> Iterator[str]:
        """Yield a line for each sum that shows lost, added or changed rows."""
        if not self._has_sums:
            return
        with self._disk_errors():
            yield from self._broken_seals()
            for number, (there, stored) in self._differing_rounds("deals", "deals").items():
                yield f"round {number + 1} has {there} of {counted(stored, 'deal')}"

    def _check_old_file(self) -> None:
        """Check the pages of a file whose schema has no sums."""
        if self._checked and not self._has_sums:
            (answer,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise self._damage(str(answer))

    def _damaged_deal(self, row: Row) -> DamageError:
        name = ".".join(str(part + 1) if isinstance(part, int) else "?" for part in row[:3])
        return self._damage(f"the deal {name} is not as it was stored")

    def _differing_rounds(self, part: str, table: str) -> dict[int, tuple[int, int]]:
        """Return the rounds with too few or too many rows: how many there are and should be."""
        query = (
            "SELECT round, sum(there), CAST(sum(stored) AS INTEGER) FROM"  # noqa: S608 - a name of ours
            f" (SELECT round, count(*) AS there, 0 AS stored FROM {table} GROUP BY round"
            "  UNION ALL SELECT number >> 32, 0, rows FROM sums WHERE part = ?)"
            " WHERE typeof(round) = 'integer' GROUP BY round"
            " HAVING sum(there) <> sum(stored) ORDER BY round"
        )
        found = self._db.execute(query, (part,))
        return {number: (there, stored) for number, there, stored in found}

    def _damaged_block(self, part: _Part, block: int) -> DamageError:
        """Return the error for a block whose rows do not match its sum."""
        if part.row_sum is not None:
            rows = self._db.execute(
                f"SELECT {part.columns}, {part.row_sum} FROM {part.table} WHERE {_IN_SPAN}"  # noqa: S608 - names of ours
                f" ORDER BY {part.order}",
                _span(*rows_of(block)),
            )
            for row in rows:
                if row_checksum(row[:-1]) != row[-1]:
                    return self._damaged_deal(row)
        (there,) = self._db.execute(f"SELECT count(*) FROM {part.table}").fetchone()  # noqa: S608
        (stored,) = self._db.execute(
            "SELECT CAST(sum(rows) AS INTEGER) FROM sums WHERE part = ?", (part.name,)
        ).fetchone()
        wrong = sorted({*self._differing_rounds(part.name, part.table), round_of(block)})
        named = ", ".join(str(number + 1) for number in wrong[:_NAMED])
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        return self._damage(
            f"{there:,} of {stored or 0:,} stored {_NOUNS[part.table]} can be read; it concerns"
            f" round {named}{more}"
        )

    def planned_tables(
        self, rounds: range = ALL, matches: range = ALL
    ) -> dict[tuple[int, int], tuple[int, ...]]:
        """Return the stored plan: the seating of each table, by round and match.

        Tournaments that follow version 1 of the rules for pairing have none.

        Raises:
            DamageError: The plan is damaged.
        """
        if not self._has_sums:
            return {}
        with self._disk_errors(), self._snapshot():
            rows = self._rows(_PLAN, rounds, matches)
            return {(number, match): seating_of(seating) for number, match, seating in rows}

    def record(self, number: int) -> DealRecord:
        """Return a deal by its number in schedule order, from 1.

        Raises:
            UsageError: There is no deal with that number.
        """
        with self._disk_errors():
            row = self._db.execute(
                "SELECT round, match, deal FROM deals ORDER BY round, match, deal LIMIT 1 OFFSET ?",
                (number - 1,),
            ).fetchone()
            if number < 1 or row is None:
                raise UsageError(f"{self.path}: there is no deal {number}; it has {self.count()}")
            return self._at(DealKey(*row))

    def faulted_throughout(self, rounds: range) -> list[tuple[int, int]]:
        """Return the sorted (round, entrant) pairs in which the entrant failed in every deal."""
        with self._disk_errors():
            suspects = self._db.execute(
                "SELECT round, entrant, count(DISTINCT match || '/' || deal) FROM faults"
                " WHERE round >= ? AND round < ? GROUP BY round, entrant ORDER BY round, entrant",
                (rounds.start, rounds.stop),
            ).fetchall()
            played = self._played(rounds) if suspects else Counter()
            return [
                (number, entrant)
                for number, entrant, failed in suspects
                if failed == played[number, entrant]
            ]

    def failing(self, rounds: range) -> list[int]:
        """Return the entrants that failed in play and forfeited a deal of the given rounds."""
        with self._disk_errors():
            rows = self._db.execute(
                "SELECT DISTINCT entrant FROM faults WHERE round >= ? AND round < ?"
                " AND NOT substituted AND cause NOT LIKE ? ORDER BY entrant",
                (rounds.start, rounds.stop, f"{UNPLAYED}%"),
            ).fetchall()
        return [entrant for (entrant,) in rows]

    def last_fault(self, entrant: int, rounds: range) -> FaultKind:
        """Return the kind of an entrant's last fault in play in the given rounds."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT kind FROM faults WHERE entrant = ? AND round >= ? AND round < ?"
                " AND cause NOT LIKE ? ORDER BY round DESC, match DESC, deal DESC, number DESC",
                (entrant, rounds.start, rounds.stop, f"{UNPLAYED}%"),
            ).fetchone()
        return cast("FaultKind", row[0])

    def damaged(self) -> Iterator[DealKey]:
        """Yield the keys of damaged deals.

        Raises:
            RunError: The file as a whole is damaged.
        """
        with self._disk_errors():
            (answer,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise RunError(f"{self.path}: the file is damaged: {answer}")
            for row in self._db.execute(f"SELECT {DEAL_COLUMNS} FROM deals ORDER BY 1, 2, 3"):  # noqa: S608 - names of ours
                if not is_whole(row, self._fault_rows(row[:3])):
                    yield DealKey(*row[:3])

    def orphans(self) -> int:
        """Return the number of faults whose deals are missing."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM faults WHERE NOT EXISTS (SELECT 1 FROM deals"
                " WHERE (deals.round, deals.match, deals.deal)"
                " = (faults.round, faults.match, faults.deal))"
            ).fetchone()
        return int(row[0])

    def _at(self, key: DealKey) -> DealRecord:
        row = self._db.execute(
            f"SELECT {DEAL_COLUMNS} FROM deals WHERE round = ? AND match = ? AND deal = ?",  # noqa: S608 - names of ours
            key,
        ).fetchone()
        faults = self._fault_rows(key)
        if self._checked and not is_whole(row, faults):
            raise self._damaged_deal(row)
        return record_of(key, row, tuple(map(fault_of, faults)))

    def _with_faults(
        self, part: _Part, rounds: range, matches: range
    ) -> Iterator[tuple[Row, list[Row]]]:
        """Yield rows of deals in schedule order, each with the rows of its faults.

        Args:
            part: The columns of the deals.
            rounds: The rounds to read.
            matches: The matches of these rounds to read.

        Raises:
            DamageError: Rows are damaged or missing, or there are faults of a missing deal.
        """
        rows = self._rows(part, rounds, matches)
        if not self._checked:  # their keys may not even be comparable
            for row in rows:
                yield row, self._fault_rows(row[:3])
            return
        found = self._rows(_FAULTS, rounds, matches)
        pending = next(found, None)
        for row in rows:
            own: list[Row] = []
            while pending is not None and pending[:3] == row[:3]:
                own.append(pending)
                pending = next(found, None)
            yield row, own
        if pending is not None:
            raise self._damage("there are faults of deals that are not there")

    def _rows(self, part: _Part, rounds: range, matches: range) -> Iterator[Row]:
        """Yield rows in schedule order; those of a block only after its sum was compared."""
        checked = self._checked and self._has_sums
        whole = whole_blocks(matches) if checked and matches != ALL else matches
        cursor = self._db.execute(
            f"SELECT {part.columns} FROM {part.table} WHERE {_IN_SPAN} ORDER BY {part.order}",  # noqa: S608 - names of ours
            _span(rounds, whole),
        )
        rows: Iterator[Row] = self._compared(cursor, part, rounds, whole) if checked else cursor
        return rows if whole == matches else (row for row in rows if row[1] in matches)

    def _compared(
        self, cursor: sqlite3.Cursor, part: _Part, rounds: range, matches: range
    ) -> Iterator[Row]:
        """Yield the rows of a cursor, block by block, if they match the stored sums.

        Args:
            cursor: All rows of a span, in schedule order.
            part: Their columns.
            rounds: The rounds of the span.
            matches: The matches of the span, in whole blocks.

        Raises:
            DamageError: Rows were lost, added or changed.
        """
        stored = self._stored_sums(part.name, _span(rounds, matches))
        rows: list[Row] = []
        sums: list[int] = []
        while batch := cursor.fetchmany(_BATCH):
            rows += batch
            sums += row_checksums(batch)
            try:
                finished = bisect_left(rows, block_of(rows[-1]), key=block_of)
                self._compare(part, rows[:finished], sums, stored)
            except TypeError:
                raise self._damage(f"a row of the {part.table} has no place") from None
            yield from rows[:finished]
            del rows[:finished], sums[:finished]
        self._compare(part, rows, sums, stored)
        yield from rows
        for block in stored:
            raise self._damaged_block(part, block)

    def _compare(
        self, part: _Part, rows: list[Row], sums: list[int], stored: dict[int, tuple[int, int]]
    ) -> None:
        """Compare rows of whole blocks with the stored sums, and remove these."""
        start = 0
        while start < len(rows):
            block = block_of(rows[start])
            stop = bisect_right(rows, block, start, key=block_of)
            if stored.pop(block, None) != (stop - start, sum(sums[start:stop]) & SUM_MASK):
                raise self._damaged_block(part, block)
            start = stop

    def _stored_sums(
        self, part: str, span: tuple[int, int, int, int]
    ) -> dict[int, tuple[int, int]]:
        """Return the number of rows and the sum of their checksums, by block, where rows are."""
        first = block_of(span[:2])
        stop = block_of((min(span[2], _MOST_ROUNDS), min(span[3], _MOST_MATCHES)))
        found = self._db.execute(
            "SELECT CAST(number AS INTEGER), rows, sum FROM sums WHERE part = ? AND rows"
            " AND number >= ? AND number < ?",
            (part, first, stop),
        )
        return {number: (rows, total) for number, rows, total in found}

    def _fault_rows(self, key: Row) -> list[Row]:
        return self._db.execute(
            f"SELECT {FAULT_COLUMNS} FROM faults WHERE round = ? AND match = ? AND deal = ?"  # noqa: S608 - names of ours
            " ORDER BY number",
            key,
        ).fetchall()

    def _played(self, rounds: range) -> Counter[tuple[int, int]]:
        """Return the number of deals of each entrant in each round, by (round, entrant)."""
        rows = self._db.execute(
            "SELECT round, seating FROM deals WHERE round >= ? AND round < ?",
            (rounds.start, rounds.stop),
        )
        return Counter(
            (number, entrant) for number, seating in rows for entrant in seating_of(seating)
        )


def _of_right_types(record: DealRecord) -> DealRecord:
    """Return a record from unchecked columns, whose values may have any type.

    Raises:
        msgspec.ValidationError: A value has a wrong type.
    """
    return msgspec.convert(msgspec.to_builtins(record), type(record))


def _span(rounds: range, matches: range) -> tuple[int, int, int, int]:
    """Return the arguments of `_IN_SPAN`; a part of the matches is for a single round only."""
    if matches == ALL:
        return rounds.start, 0, rounds.stop, 0
    return rounds.start, matches.start, rounds.start, matches.stop
