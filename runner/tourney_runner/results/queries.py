"""Reading deals from the results file: in schedule order, as they are asked for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.database import ResultsFile
from tourney_runner.results.records import UNPLAYED, DealKey
from tourney_runner.results.row_codec import (
    FAULT_COLUMNS,
    OUTCOME_COLUMNS,
    digest,
    fault_of,
    outcome_of,
    record_of,
    seating_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.results.records import DealOutcome, DealRecord, FaultKind, FaultRecord
    from tourney_runner.results.row_codec import Row

__all__ = ["ALL", "StoredDeals"]

ALL = range(2**62)
"""All rounds, or all matches of a round."""
_IN_SPAN = "(round, match) >= (?, ?) AND (round, match) < (?, ?)"


class StoredDeals(ResultsFile):
    """The deals of an open results file."""

    def count(self, rounds: range = ALL) -> int:
        """How many deals there are, in some rounds or in all."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE round >= ? AND round < ?",
                (rounds.start, rounds.stop),
            ).fetchone()
        return int(row[0])

    def number(self, key: DealKey) -> int:
        """The number of a deal in schedule order, from 1."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM deals WHERE (round, match, deal) <= (?, ?, ?)", key
            ).fetchone()
        return int(row[0])

    def last_round(self) -> int | None:
        """The highest number of a round of which something is stored."""
        with self._disk_errors():
            row = self._db.execute("SELECT max(round) FROM deals").fetchone()
        return None if row[0] is None else int(row[0])

    def keys(self, rounds: range, deals: int, matches: range = ALL) -> set[DealKey]:
        """The keys of the first `deals` deals of some matches of some rounds."""
        with self._disk_errors():
            rows = self._db.execute(
                f"SELECT round, match, deal FROM deals WHERE {_IN_SPAN} AND deal < ?",  # noqa: S608 - a constant
                (*_span(rounds, matches), deals),
            )
            return {DealKey(*row) for row in rows}

    def records(self, rounds: range = ALL, matches: range = ALL) -> Iterator[DealRecord]:
        """Deals in schedule order, read as they are asked for, without notes."""
        with self._disk_errors():
            for key, row, faults in self._with_faults("*", rounds, matches):
                yield record_of(key, row, faults)

    def outcomes(self, rounds: range = ALL) -> Iterator[DealOutcome]:
        """Deals in schedule order, as far as tables need them: read in half the time."""
        with self._disk_errors():
            for key, row, faults in self._with_faults(OUTCOME_COLUMNS, rounds, ALL):
                yield outcome_of(key, row, faults)

    def record(self, number: int) -> DealRecord:
        """One deal by its number in schedule order, from 1.

        Raises:
            UsageError: There are not so many.
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
        """Return the (round, entrant) pairs of which every deal has a fault, sorted."""
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
        """Return the entrants that failed in play, and forfeited, in some rounds."""
        with self._disk_errors():
            rows = self._db.execute(
                "SELECT DISTINCT entrant FROM faults WHERE round >= ? AND round < ?"
                " AND NOT substituted AND cause NOT LIKE ? ORDER BY entrant",
                (rounds.start, rounds.stop, f"{UNPLAYED}%"),
            ).fetchall()
        return [entrant for (entrant,) in rows]

    def last_fault(self, entrant: int, rounds: range) -> FaultKind:
        """Return the kind of the last fault in play that an entrant made in some rounds."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT kind FROM faults WHERE entrant = ? AND round >= ? AND round < ?"
                " AND cause NOT LIKE ? ORDER BY round DESC, match DESC, deal DESC, number DESC",
                (entrant, rounds.start, rounds.stop, f"{UNPLAYED}%"),
            ).fetchone()
        return cast("FaultKind", row[0])

    def damaged(self) -> Iterator[DealKey]:
        """Deals that are not as they were stored.

        Raises:
            RunError: The file as a whole is damaged.
        """
        with self._disk_errors():
            (answer,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise RunError(f"{self.path}: the file is damaged: {answer}")
            for row in self._db.execute("SELECT * FROM deals ORDER BY round, match, deal"):
                if digest(row[:-1], self._fault_rows(DealKey(*row[:3]))) != row[-1]:
                    yield DealKey(*row[:3])

    def orphans(self) -> int:
        """How many faults there are of deals that are not there."""
        with self._disk_errors():
            row = self._db.execute(
                "SELECT count(*) FROM faults WHERE NOT EXISTS (SELECT 1 FROM deals"
                " WHERE (deals.round, deals.match, deals.deal)"
                " = (faults.round, faults.match, faults.deal))"
            ).fetchone()
        return int(row[0])

    def _at(self, key: DealKey) -> DealRecord:
        row = self._db.execute(
            "SELECT * FROM deals WHERE round = ? AND match = ? AND deal = ?", key
        ).fetchone()
        faults = [fault_of(fault) for fault in self._fault_rows(key)]
        return record_of(key, row, tuple(faults))

    def _with_faults(
        self, columns: str, rounds: range, matches: range
    ) -> Iterator[tuple[DealKey, Row, tuple[FaultRecord, ...]]]:
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

    def _faults(self, rounds: range, matches: range = ALL) -> Iterator[tuple[DealKey, FaultRecord]]:
        rows = self._db.execute(
            f"SELECT {FAULT_COLUMNS} FROM faults WHERE {_IN_SPAN}"  # noqa: S608 - names of ours
            " ORDER BY round, match, deal, number",
            _span(rounds, matches),
        )
        for row in rows:
            yield DealKey(*row[:3]), fault_of(row)

    def _fault_rows(self, key: DealKey) -> list[Row]:
        return self._db.execute(
            f"SELECT {FAULT_COLUMNS} FROM faults WHERE round = ? AND match = ? AND deal = ?"  # noqa: S608 - names of ours
            " ORDER BY number",
            key,
        ).fetchall()

    def _played(self, rounds: range) -> Counter[tuple[int, int]]:
        """How many deals each entrant sat at in each round, by (round, entrant)."""
        rows = self._db.execute(
            "SELECT round, seating FROM deals WHERE round >= ? AND round < ?",
            (rounds.start, rounds.stop),
        )
        return Counter(
            (number, entrant) for number, seating in rows for entrant in seating_of(seating)
        )


def _span(rounds: range, matches: range) -> tuple[int, int, int, int]:
    """The arguments of `_IN_SPAN`; only of a single round can it be less than all matches."""
    if matches == ALL:
        return rounds.start, 0, rounds.stop, 0
    return rounds.start, matches.start, rounds.start, matches.stop
