"""Is a folder of results what it says it is? Anyone can ask who has the folder.

Four things are looked at: the file itself (each deal still comes to its digest), the schedule
(the deals that the seed and the entrants call for are there, and no others), the rules (the moves
of each deal, played again on its cards, give its places and points) and the published tables. If
the bots are at hand, some deals are also played again by them.
"""

from __future__ import annotations

from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from runner.errors import UsageError
from runner.league.comparing import by_chance, host_faults, parting
from runner.league.replaying import Workers, as_then, cast_of, match_of, plan_of, play_again
from runner.league.report import Finding, Report
from runner.league.rulebook import RuleBook
from runner.league.schedule import certain_rounds, planned_rounds, stored_format
from runner.play.settings import PlaySettings
from runner.publish.claim import SITE_FOLDER
from runner.publish.summary import summarise
from runner.publish.tables import FORMATS
from runner.results.store import FILE_NAME, Store
from runner.run.signals import StopSignals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from runner.bots import Bot
    from runner.league.report import Where
    from runner.play.settings import MatchPlan
    from runner.results.records import DealKey, DealRecord
    from runner.schedule.base import Table

__all__ = ["Wanted", "verify"]

_AGAIN = 2
"""More times a match is played that came out otherwise, to see whether it always comes out so."""
_A_FEW = 10
"""Deals that are played again where nobody said how many."""
_NAMED = 20
"""Findings of one kind that are listed."""


class Wanted(NamedTuple):
    """Which deals are to be played again by their bots."""

    sample: int | None = None
    """So many, at equal distances; None for a few where the bots are at hand."""
    deals: tuple[int, ...] = ()
    """These, by their numbers in schedule order, from 1."""
    workers: Workers = Workers()

    @property
    def asked(self) -> bool:
        """Whether somebody relies on deals being played again."""
        return bool(self.deals) or bool(self.sample)


def verify(folder: Path, wanted: Wanted, staged: Sequence[Bot] = ()) -> Report:
    """Check a folder of results; nothing in it is changed.

    Args:
        folder: The folder.
        wanted: What to play again.
        staged: Bots at hand, besides those in the cache.

    Raises:
        UsageError: There are no results, they are of another version or under other rules, or
            there is no such deal.
        RunError: The file is damaged as a whole, or the deals cannot be played here.
        Interrupted: By a signal.
    """
    with StopSignals() as signals, closing(Store(folder / FILE_NAME)) as store:
        verification = _Verification(store, signals)
        verification.check_store()
        verification.check_deals()
        verification.check_tables(folder)
        verification.play(wanted, staged)
        return verification.report()


class _Verification:
    """One verification of an open store."""

    def __init__(self, store: Store, signals: StopSignals) -> None:
        if store.meta("identity") is None:
            raise UsageError(f"{store.path}: no tournament was begun here")
        self._store = store
        self._signals = signals
        self._settings = msgspec.convert(store.meta("settings"), PlaySettings)
        self._book = self._rules_as_stored()
        self._findings: list[Finding] = []
        self._notes: list[str] = []
        self._deals = 0
        self._played = 0
        self._unplayed = 0

    def report(self) -> Report:
        """What came together, with long lists cut."""
        shown: list[Finding] = []
        for where, group in groupby(self._findings, key=lambda finding: finding.where):
            found = list(group)
            shown += found[:_NAMED]
            if len(found) > _NAMED:
                shown.append(Finding(where, f"and {len(found) - _NAMED} more of this kind"))
        return Report(self._deals, self._played, tuple(shown), tuple(self._notes))

    def check_store(self) -> None:
        """The file itself."""
        for key in self._store.damaged():
            self._find("store", "it is not as it was stored", key)
            self._signals.check()
        if orphans := self._store.orphans():
            self._find("store", f"{orphans} faults belong to deals that are not there")

    def check_deals(self) -> None:
        """The schedule, and each deal by the rules."""
        tournament = stored_format(self._store)
        certain = certain_rounds(self._store, tournament)
        number = -1
        for number, tables in enumerate(planned_rounds(self._store, tournament)):
            must = certain is None or number < certain
            self._check_round(number, tables, must=must)
            self._signals.check()
        if beyond := self._store.count(range(number + 1, 2**62)):
            self._find("schedule", f"{beyond} deals are of rounds that were not planned")
        if self._unplayed:
            units = "deals" if self._settings.duplicate else "matches"
            self._notes.append(
                f"the tournament goes on: {self._unplayed:,} {units} are not played yet"
            )

    def check_tables(self, folder: Path) -> None:
        """The published tables, against those that the deals give."""
        summary = summarise(self._store)
        seen = False
        for _, name, write in FORMATS:
            for path in (folder / name, folder / SITE_FOLDER / name):
                if not path.exists():
                    continue
                seen = True
                if path.read_text(encoding="utf-8", errors="replace") != write(summary):
                    where = path.relative_to(folder)
                    text = f"{where} is not what the stored deals give; tourney publish mends that"
                    self._find("tables", text)
        if not seen:
            self._notes.append("there are no tables beside the results")

    def play(self, wanted: Wanted, staged: Sequence[Bot]) -> None:
        """Some deals by their bots."""
        cast = cast_of(self._store, staged)
        chosen: dict[MatchPlan, list[DealRecord]] = {}
        missing: set[int] = set()
        for record in self._chosen(wanted):
            plan = plan_of(self._settings, record)
            absent = set(record.seating) & cast.missing.keys()
            missing |= absent
            if not absent:
                chosen[plan] = match_of(self._store, self._settings, record)
        if missing:
            names = ", ".join(cast.missing[number] for number in sorted(missing))
            text = (
                f"not all deals could be played again: not in the cache of staged bots: {names};"
                " give --config with a configuration that enters the same files"
            )
            if wanted.asked:
                self._find("play", text)
            else:
                self._notes.append(text)
        plans = list(chosen)
        if plans:
            if wanted.workers.sandbox is None and (text := as_then(self._store, cast)[1]):
                self._notes.append(text)
            again = play_again(self._store, cast, plans, self._signals, wanted.workers)
            for plan, records in zip(plans, again, strict=True):
                self._played += len(chosen[plan])
                if parting(self._settings, chosen[plan], records) is not None:
                    more = play_again(
                        self._store, cast, [plan] * _AGAIN, self._signals, wanted.workers
                    )
                    self._judge(chosen[plan], records, [records, *more])

    def _rules_as_stored(self) -> RuleBook:
        """Refuse results whose rules this version knows differently."""
        try:
            book = RuleBook(self._settings)
            if book.in_force() == self._settings.rules:
                return book
        except ValueError:  # it does not even have them all
            pass
        raise UsageError(
            f"{self._store.path}: these deals were played under rules that this version of tourney"
            " has otherwise; use the version that played them"
            f" ({self._store.meta('facts')['version']})"
        )

    def _check_round(self, number: int, tables: Sequence[Table], *, must: bool) -> None:
        rotations = max(1, self._settings.duplicate)
        there: dict[tuple[int, int], list[DealRecord]] = {}
        for record in self._store.records(range(number, number + 1)):
            self._deals += 1
            rotation = record.key.deal if self._settings.duplicate else 0
            there.setdefault((record.key.match, rotation), []).append(record)
        for table in tables:
            for rotation in range(rotations):
                records = there.pop((table.match, rotation), None)
                if records is not None:
                    self._check_match(table, records)
                elif must:
                    self._find(
                        "schedule",
                        f"round {number + 1}, match {table.match + 1}, deal {rotation + 1} is not"
                        " there",
                    )
                else:
                    self._unplayed += 1
        for records in there.values():
            self._find("schedule", "it is of no match that was planned", records[0].key)

    def _check_match(self, table: Table, records: list[DealRecord]) -> None:
        for at, record in enumerate(records):
            if plan_of(self._settings, record).seating != table.seating:
                self._find("schedule", "others sit there than the schedule says", record.key)
                return
            if not self._settings.duplicate and record.key.deal != at:
                self._find("schedule", "the deal before it in its match is not there", record.key)
                return
        for key, text in self._book.wrong(records):
            self._find("rules", text, key)

    def _chosen(self, wanted: Wanted) -> Iterator[DealRecord]:
        total = self._store.count()
        if wanted.deals:
            yield from (self._store.record(number) for number in wanted.deals)
            return
        count = min(total, _A_FEW if wanted.sample is None else wanted.sample)
        for index in range(count):
            yield self._store.record(1 + index * total // count)

    def _judge(
        self,
        stored: Sequence[DealRecord],
        again: Sequence[DealRecord],
        plays: Sequence[Sequence[DealRecord]],
    ) -> None:
        """Say what a match means that came out otherwise."""
        part = parting(self._settings, stored, again)
        if part is None:
            return
        at, where = part
        names = self._names()
        who = "" if where.entrant is None else f" of {names[where.entrant]}"
        text = f"move {where.move}{who} was {where.before}, is {where.after} when played again"
        key = stored[at].key
        random = by_chance(self._settings, plays)
        number = self._store.number(key)
        if random and (where.entrant is None or where.entrant in random):
            listed = ", ".join(names[entrant] for entrant in sorted(random))
            self._notes.append(f"deal {number}: {text}; {listed} has randomness of its own")
        elif host_faults([*stored, *again]):
            self._notes.append(
                f"deal {number}: {text}; a fault that depends on the machine was in it"
            )
        else:
            self._find("play", text, key)

    def _names(self) -> list[str]:
        return [entrant["name"] for entrant in self._store.meta("facts")["entrants"]]

    def _find(self, where: Where, text: str, key: DealKey | None = None) -> None:
        number = None if key is None else self._store.number(key)
        self._findings.append(Finding(where, text, number))
