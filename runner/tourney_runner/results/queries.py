"""Queries that read deals from the results file, lazily and in schedule order."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, cast
from zlib import crc32

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.database import FIRST_WITH_SUMS, ResultsFile
from tourney_runner.results.records import UNPLAYED, DealKey, DealOutcome
from tourney_runner.results.row_codec import (
    DEAL_COLUMNS,
    DEAL_TEXT,
    FAULT_COLUMNS,
    FAULT_TEXT,
    OUTCOME_COLUMNS,
    OUTCOME_TEXT,
    fault_of,
    is_whole,
    outcome_of,
    record_of,
    seating_of,
)
from tourney_runner.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.errors import DamageError
    from tourney_runner.results.records import DealRecord, FaultKind
    from tourney_runner.results.row_codec import Row

__all__ = ["ALL", "StoredDeals"]

ALL = range(2**62)
"""All rounds, or all matches of a round."""
_BATCH = 500
"""Rows that are checked together."""
_NAMED = 5
"""Rounds that a message lists."""
_IN_SPAN = "(round, match) >= (?, ?) AND (round, match) < (?, ?)"


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
            self._check_faults(rounds)
            check = (DEAL_TEXT, "row_sum") if self._has_sums else None
            for row, faults in self._with_faults(DEAL_COLUMNS, check, rounds, matches):
                if self._checked and not self._has_sums and not is_whole(row[:13], faults):
                    raise self._damaged_deal(row)
                yield record_of(DealKey(*row[:3]), row, tuple(map(fault_of, faults)))

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
            self._check_faults(rounds)
            check = (OUTCOME_TEXT, "outcome_sum")
            for row, faults in self._with_faults(OUTCOME_COLUMNS, check, rounds, ALL):
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
            query = (
                "SELECT number, rows, (SELECT count(*) FROM deals WHERE round = number) FROM sums"
                " WHERE part = 'deals'"
            )
            for number, stored, there in self._db.execute(query):
                if stored != there:
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

    def _check_faults(self, rounds: range) -> None:
        """Refuse damaged faults."""
        if not self._checked or not self._has_sums:
            return
        sums: dict[int, tuple[int, int]] = {}
        rows = self._db.execute(
            f"SELECT round, {FAULT_TEXT} FROM faults WHERE round >= ? AND round < ?",  # noqa: S608 - names of ours
            (rounds.start, rounds.stop),
        )
        for number, text in rows:
            count, total = sums.get(number, (0, 0))
            sums[number] = count + 1, total + crc32(text)
        self._compare_sums("faults", sums, rounds)

    def _compare_sums(self, part: str, seen: dict[int, tuple[int, int]], rounds: range) -> None:
        """Refuse rounds in which rows were lost, added or changed."""
        stored = {
            number: (count, total)
            for number, count, total in self._db.execute(
                "SELECT number, rows, sum FROM sums WHERE part = ? AND rows AND number >= ?"
                " AND number < ?",
                (part, rounds.start, rounds.stop),
            )
        }
        if stored == seen:
            return
        wrong = sorted(
            number
            for number in stored.keys() | seen.keys()
            if stored.get(number) != seen.get(number)
        )
        there, all_of_them = (sum(count for count, _ in sums.values()) for sums in (seen, stored))
        named = ", ".join(str(number + 1) for number in wrong[:_NAMED])
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise self._damage(
            f"{there:,} of {all_of_them:,} stored {part} can be read; it concerns round"
            f" {named}{more}"
        )

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
        self, columns: str, check: tuple[str, str] | None, rounds: range, matches: range
    ) -> Iterator[tuple[Row, list[Row]]]:
        """Yield rows of deals in schedule order, each with the rows of its faults.

        Args:
            columns: Columns of the deals, the key first.
            check: The text to check in SQL, and the column of its checksum; None for no check.
            rounds: The rounds to read.
            matches: The matches of these rounds to read.

        Raises:
            DamageError: There are faults of a missing deal.
        """
        found = self._db.execute(
            f"SELECT {FAULT_COLUMNS} FROM faults WHERE {_IN_SPAN}"  # noqa: S608 - names of ours
            " ORDER BY round, match, deal, number",
            _span(rounds, matches),
        )
        pending = next(found, None)
        for row in self._deal_rows(columns, check, rounds, matches):
            own: list[Row] = []
            if pending is not None:
                while pending is not None and pending[:3] < row[:3] and not self._checked:
                    pending = next(found, None)
                while pending is not None and pending[:3] == row[:3]:
                    own.append(pending)
                    pending = next(found, None)
            yield row, own
        if pending is not None and self._checked:
            raise self._damage("there are faults of deals that are not there")

    def _deal_rows(
        self, columns: str, check: tuple[str, str] | None, rounds: range, matches: range
    ) -> Iterator[Row]:
        """Yield rows of deals, checked in batches before they are used."""
        checked = self._checked and check is not None
        more = f", {check[1]}, {check[0]}" if check is not None and checked else ""
        if check is not None and checked and check[1] != "outcome_sum":
            more += ", outcome_sum"
        cursor = self._db.execute(
            f"SELECT {columns}{more} FROM deals WHERE {_IN_SPAN} ORDER BY round, match, deal",  # noqa: S608 - names of ours
            _span(rounds, matches),
        )
        if not checked:
            yield from cursor
            return
        at = columns.count(",") + 1
        last = at + 2 if check is not None and check[1] != "outcome_sum" else at
        seen: dict[int, tuple[int, int]] = {}
        while batch := cursor.fetchmany(_BATCH):
            if list(map(crc32, map(itemgetter(at + 1), batch))) != list(map(itemgetter(at), batch)):
                raise self._damaged_deal(
                    next(row for row in batch if crc32(row[at + 1]) != row[at])
                )
            _sum_up(batch, last, seen)
            yield from batch
        if matches == ALL:
            self._compare_sums("deals", seen, rounds)

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


def _sum_up(batch: list[Row], column: int, seen: dict[int, tuple[int, int]]) -> None:
    """Add the checksums of a sorted batch of rows to those of their rounds."""
    for number, rows in groupby(batch, key=itemgetter(0)):
        checksums = list(map(itemgetter(column), rows))
        count, total = seen.get(number, (0, 0))
        seen[number] = count + len(checksums), total + sum(checksums)


def _span(rounds: range, matches: range) -> tuple[int, int, int, int]:
    """Return the arguments of `_IN_SPAN`; a part of the matches is for a single round only."""
    if matches == ALL:
        return rounds.start, 0, rounds.stop, 0
    return rounds.start, matches.start, rounds.start, matches.stop
