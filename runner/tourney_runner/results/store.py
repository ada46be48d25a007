"""The store: one SQLite database from which everything published is computed.

A chunk of deals is one transaction, which is on the disk before it is reported. Rows are inserted
under a stable key and never changed, so a deal that is played twice (by a worker that was taken for
dead, for example) counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.errors import RunError
from tourney_runner.results.database import FILE_NAME, SCHEMA_VERSION
from tourney_runner.results.queries import ALL, StoredDeals
from tourney_runner.results.records import DealKey, DealRecord, Decision, Void
from tourney_runner.results.row_codec import (
    block_of,
    deal_row,
    digest,
    fault_row,
    json_record,
    json_text,
    outcome_row,
    row_checksum,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tourney_runner.results.row_codec import Row

__all__ = ["ALL", "CHECKPOINT", "FILE_NAME", "SCHEMA_VERSION", "Store"]

CHECKPOINT = "checkpoint"
"""The key of a run's counts of finished deals, which become invalid if deals are removed."""

_FULL_STDERR_FAULTS = 20
"""Faults of a bot that are stored with their whole stderr; later ones have only its tail."""
_STDERR_TAIL = 2000
_PLANNED = "planned"
"""The key for the information of `Store.planned_from` that the deals no longer contain."""


class Store(StoredDeals):
    """An open results file for reading and writing; see `ResultsFile` for how it is opened."""

    def add(self, records: Iterable[DealRecord]) -> int:
        """Store deals, all or none; existing deals are left unchanged.

        Returns:
            The number of new deals.
        """
        with self._transaction():
            return sum(self._add_one(record) for record in records)

    def exchange(
        self, old: Sequence[DealKey], new: Iterable[DealRecord], reason: str, at: str
    ) -> None:
        """Declare deals void and replace them by others, all or none.

        Later rounds that have begun are still planned from the old deals; see `planned_from`.

        Args:
            old: The deals that no longer count; they are stored separately.
            new: The deals that replace them.
            reason: The reason, which is stored.
            at: The time, ISO 8601 in UTC.
        """
        records = list(new)
        with self._transaction():
            voids = [self._add_void(key, reason, at) for key in old]
            if old[0].round < (self.last_round() or 0):
                self._keep_planned(dict(zip(old, voids, strict=True)), records)
            for key in old:
                self._take_out(key)
            for table in ("deals", "faults"):
                self._db.executemany(
                    f"DELETE FROM {table} WHERE round = ? AND match = ? AND deal = ?",  # noqa: S608 - two names of ours
                    old,
                )
            self._rewritten |= {"meta", "voids"}
            self._db.execute("DELETE FROM meta WHERE key = ?", (CHECKPOINT,))
            for record in records:
                self._add_one(record)

    def plan(
        self, rounds: range, matches: range, tables: Mapping[tuple[int, int], tuple[int, ...]]
    ) -> None:
        """Store the tables of a block before it is played, replacing an earlier plan.

        Args:
            rounds: The rounds of the block.
            matches: The matches of each of these rounds.
            tables: The seating of each table, by round and match.

        Raises:
            RunError: Other tables were planned for a round that has begun.
        """
        before = self.planned_tables(rounds, matches)
        if before == tables:
            return
        planned = {number for number, _ in before}
        begun = planned & {key.round for key in self.keys(rounds, 1, matches)}
        for key in sorted(before.keys() | tables.keys()):
            if key[0] in begun and before.get(key) != tables.get(key):
                raise RunError(
                    f"{self.path}: round {key[0] + 1} was begun with other tables than this version"
                    " of tourney plans for it. Continue with the version that began it"
                )
        with self._transaction():
            for key, seating in before.items():
                self._count_planned(key, seating, rows=-1)
            for key, seating in tables.items():
                self._count_planned(key, seating)
            self._db.executemany("DELETE FROM planned WHERE round = ? AND match = ?", before)
            self._db.executemany(
                "INSERT INTO planned VALUES (?, ?, ?)",
                [(*key, json_text(seating)) for key, seating in tables.items()],
            )

    def planned_from(self, number: int) -> list[DealRecord]:
        """Return the deals of a round as they were when the next round began.

        The next round was planned from these, even if some of them were declared void later.
        """
        kept = self.note(_PLANNED) or {"voids": [], "later": []}
        later = {DealKey(*key) for key in kept["later"]}
        records = [one for one in self.records(range(number, number + 1)) if one.key not in later]
        with self._disk_errors():
            for void in kept["voids"]:
                row = self._db.execute("SELECT record FROM voids WHERE number = ?", (void,))
                record = json_record(row.fetchone()[0])
                if record.key.round == number:
                    records.append(record)
        return sorted(records, key=lambda record: record.key)

    def voids(self) -> list[Void]:
        """Return all void deals, in the order in which they were declared void."""
        with self._disk_errors():
            rows = self._sealed_rows("voids")
            return [Void(at, reason, json_record(record)) for at, reason, record in rows]

    def decide(self, decision: Decision, **changes: Any) -> None:
        """Store a decision, replacing one with the same number.

        Args:
            decision: The decision; number 0 stands for the next.
            changes: Fields of the tournament's record that change with it.
        """
        row = msgspec.structs.astuple(decision)
        with self._transaction():
            self._rewritten.add("decisions")
            self._db.execute(
                "INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (row[0] or None, *row[1:]),
            )
            self._change(changes)

    def decisions(self) -> list[Decision]:
        """Return all decisions in order, including those that were taken back."""
        with self._disk_errors():
            rows = self._sealed_rows("decisions")
            return [msgspec.convert(row, Decision) for row in rows]

    def _add_one(self, record: DealRecord) -> int:
        row = deal_row(record)
        faults = self._new_faults(record)
        row = (*row, digest(row, faults))
        whole, outcome = row_checksum(row), row_checksum(outcome_row(row))
        inserted = self._db.execute(
            "INSERT OR IGNORE INTO deals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, outcome, whole),
        ).rowcount
        if inserted:
            block = block_of(record.key)
            self._count_in("deals", block, whole)
            self._count_in("outcomes", block, outcome)
            for fault in faults:
                self._count_in("faults", block, row_checksum(fault))
        if inserted and faults:
            self._db.executemany(
                "INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", faults
            )
        return inserted

    def _new_faults(self, record: DealRecord) -> list[Row]:
        rows: list[Row] = []
        for number, fault in enumerate(record.faults):
            before = self._db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM faults WHERE entrant = ? LIMIT ?)",
                (fault.entrant, _FULL_STDERR_FAULTS),
            ).fetchone()[0]
            kept = before + sum(row[5] == fault.entrant for row in rows)
            stderr = fault.stderr if kept < _FULL_STDERR_FAULTS else fault.stderr[-_STDERR_TAIL:]
            rows.append(fault_row(record.key, number, fault, stderr))
        return rows

    def _count_planned(self, key: tuple[int, int], seating: tuple[int, ...], rows: int = 1) -> None:
        """Add a planned table to the sums, or subtract it if `rows` is -1."""
        self._count_in("planned", block_of(key), row_checksum((*key, json_text(seating))), rows)

    def _take_out(self, key: DealKey) -> None:
        """Subtract a deal and its faults from the sums."""
        whole, outcome = self._db.execute(
            "SELECT row_sum, outcome_sum FROM deals WHERE round = ? AND match = ? AND deal = ?", key
        ).fetchone()
        block = block_of(key)
        self._count_in("deals", block, whole, rows=-1)
        self._count_in("outcomes", block, outcome, rows=-1)
        for fault in self._fault_rows(key):
            self._count_in("faults", block, row_checksum(fault), rows=-1)

    def _add_void(self, key: DealKey, reason: str, at: str) -> int | None:
        """Store a deal as void; return its number among the void deals."""
        return self._db.execute(
            "INSERT INTO voids (at, reason, record) VALUES (?, ?, ?)",
            (at, reason, json_text(self._at(key))),
        ).lastrowid

    def _keep_planned(self, voids: dict[DealKey, int | None], new: list[DealRecord]) -> None:
        """Store which deals the later rounds were planned from."""
        kept = self.note(_PLANNED) or {"voids": [], "later": []}
        later = {DealKey(*key) for key in kept["later"]}
        kept["voids"] += [number for key, number in voids.items() if key not in later]
        kept["later"] = sorted(later | {record.key for record in new})
        self._set_values({_PLANNED: kept})
