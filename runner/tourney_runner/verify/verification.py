"""Verification of a results folder by anyone who has it.

Five parts are checked: the file itself (each deal matches its digest), the schedule (exactly the
deals that the seed and the entrants require exist), the rules (the moves of each deal, played again
with its cards, give its places and points), the benchings (they follow from the stored deals) and
the published tables. If the bots are available, some deals are also played again by them.
"""

from __future__ import annotations

from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.errors import DamageError
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.result_files import output_format
from tourney_runner.publish.site_folder import SITE_FOLDER
from tourney_runner.publish.summary import summarise
from tourney_runner.publish.tables import FORMATS
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.text import counted
from tourney_runner.verify.bots_check import Sample, Wanted, available_bots, plan_of
from tourney_runner.verify.published_check import (
    marker_of,
    numbers_wrong,
    page_numbers_wrong,
    reference,
    remade_wrong,
)
from tourney_runner.verify.report import Findings
from tourney_runner.verify.rules_check import (
    RuleBook,
    benching_wrong,
    certain_rounds,
    plan_wrong,
    planned_rounds,
    stored_format,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tourney_runner.play.bot import Bot
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.records import DealRecord
    from tourney_runner.schedule.base import Table
    from tourney_runner.verify.report import Report

__all__ = ["Wanted", "verify"]


def verify(folder: Path, wanted: Wanted, staged: Sequence[Bot] = ()) -> Report:
    """Check a results folder without changing it.

    Args:
        folder: The folder.
        wanted: The deals to play again.
        staged: Available bots, besides those in the cache.

    Raises:
        UsageError: There are no results, they are from another version or have other rules, or
            there is no such deal.
        RunError: The file is damaged as a whole, or the deals cannot be played here.
        Interrupted: By a signal.
    """
    with StopSignals() as signals, closing(Store(folder / FILE_NAME, checked=False)) as store:
        verification = _Verification(store, signals)
        verification.check_store()
        verification.check_deals()
        verification.check_tables(folder)
        verification.play(wanted, staged)
        return verification.report()


class _Said(msgspec.Struct, frozen=True):
    """The state of the results as given in a table as JSON."""

    deals: int
    complete: bool


class _Verification:
    """A verification of an open store."""

    def __init__(self, store: Store, signals: StopSignals) -> None:
        self._store = store
        self._signals = signals
        self._settings = PlaySettings.of(store.about())
        self._book = RuleBook(self._settings)
        self._findings = Findings(store.number)
        self._deals = 0
        self._played = 0
        self._unplayed = 0

    def report(self) -> Report:
        """Return the report of all checks so far."""
        return self._findings.report(deals=self._deals, played=self._played)

    def check_store(self) -> None:
        """Check the file itself."""
        for key in self._store.damaged():
            self._findings.add("store", "it is not as it was stored", key)
            self._signals.check()
        if orphans := self._store.orphans():
            faults = counted(orphans, "fault is", "faults are")
            self._findings.add("store", f"{faults} of no deal that is there")
        for text in self._store.lost():
            self._findings.add("store", text)
        if not self._findings.has("store"):
            self._check_sums()

    def _check_sums(self) -> None:
        """Read the deals as each table does, which compares them with all stored sums."""
        try:
            with closing(Store(self._store.path)) as store:
                for _ in chain(store.outcomes(), store.records()):
                    pass
        except DamageError as error:
            self._findings.add("store", str(error).removeprefix(f"{self._store.path}: "))

    def check_deals(self) -> None:
        """Check the schedule, and each deal by the rules."""
        tournament = stored_format(self._store)
        certain = certain_rounds(self._store, tournament)
        number = -1
        for number, tables in enumerate(planned_rounds(self._store, tournament)):
            must = certain is None or number < certain
            self._check_round(number, tables, must=must)
            self._signals.check()
        if beyond := self._store.count(range(number + 1, 2**62)):
            deals = counted(beyond, "deal is", "deals are")
            self._findings.add("schedule", f"{deals} of a round that was not planned")
        if not self._findings.has("store"):
            for text in benching_wrong(self._store, tournament):
                self._findings.add("rulings", text)
        if self._unplayed:
            if self._settings.match.duplicate:
                missing = counted(self._unplayed, "deal is", "deals are")
            else:
                missing = counted(self._unplayed, "match is", "matches are")
            self._findings.note(f"the tournament goes on: {missing} not played yet")

    def check_tables(self, folder: Path) -> None:
        """Check the published tables against those computed from the deals."""
        if self._findings.has("store"):
            self._findings.note("the tables were not checked, since the stored deals are damaged")
            return
        # Read the files before the deals, since a concurrent run replaces them by newer ones.
        site = folder / SITE_FOLDER
        marker = marker_of(site)
        places = [place for place in (folder, site) if any(_tables_in(place))]
        older = [_tables_in(place) for place in places]
        summary = summarise(self._store, afresh=True)
        if not places:
            self._findings.note("there are no tables beside the results")
        current = [
            place
            for place, tables in zip(places, older, strict=True)
            if not _are_older(tables, summary)
        ]
        if len(current) < len(places):
            self._findings.note(
                "there are tables of a time when less was played; tourney publish writes them again"
            )
        remake = "; tourney publish writes it again"
        choices = marker.choices if marker.format == output_format() else None
        if current == [folder, site] and choices is not None:
            for text in remade_wrong(folder, site, self._store, summary, choices):
                self._findings.add("tables", f"{text}{remake}")
            return
        if current:
            self._findings.note(
                "the tables and pages were written by another version of tourney, or are not"
                " complete; their numbers were compared"
            )
        for text in self._wrong_numbers(folder, current, summary):
            self._findings.add("tables", f"{text}{remake}")

    def _wrong_numbers(
        self, folder: Path, places: Sequence[Path], summary: Summary
    ) -> Iterator[str]:
        for place in places:
            inside = "" if place == folder else f"{SITE_FOLDER}/"
            for text in numbers_wrong(place, reference(summary)):
                yield f"{inside}{text}"
        site = folder / SITE_FOLDER
        if site in places:
            for text in page_numbers_wrong(site, self._store, summary, kept_choices(self._store)):
                yield f"{SITE_FOLDER}/{text}"

    def play(self, wanted: Wanted, staged: Sequence[Bot]) -> None:
        """Play some deals again with their bots."""
        cast = available_bots(self._store, staged)
        sample = Sample(self._store, self._settings, cast, self._signals, self._findings)
        self._played = sample.check(wanted)

    def _check_round(self, number: int, tables: Sequence[Table], *, must: bool) -> None:
        rotations = max(1, self._settings.match.duplicate)
        there: dict[tuple[int, int], list[DealRecord]] = {}
        for record in self._readable(range(number, number + 1)):
            self._deals += 1
            rotation = record.key.deal if self._settings.match.duplicate else 0
            there.setdefault((record.key.match, rotation), []).append(record)
        for table in tables:
            for rotation in range(rotations):
                records = there.pop((table.match, rotation), None)
                if records is not None:
                    self._check_match(table, records, must=must)
                elif must:
                    self._findings.add(
                        "schedule",
                        f"round {number + 1}, match {table.match + 1}, deal {rotation + 1} is not"
                        " there",
                    )
                else:
                    self._unplayed += 1
        self._check_plan(number, tables)
        for records in there.values():
            self._findings.add("schedule", "it is of no match that was planned", records[0].key)

    def _check_plan(self, number: int, tables: Sequence[Table]) -> None:
        """Check the stored plan of a round that has begun; another may change with the field."""
        this_round = range(number, number + 1)
        keys = self._store.keys(this_round, 1)
        if not keys or self._store.tournament().format_rules == 1:
            return
        try:
            plan = self._store.planned_tables(this_round)
        except DamageError as error:
            self._findings.add("store", f"the plan of round {number + 1} cannot be read: {error}")
            return
        for text in plan_wrong(tables, plan):
            self._findings.add("schedule", text)
        scheduled = {(number, table.match) for table in tables}
        for key in sorted(key for key in keys if key[:2] in scheduled - plan.keys()):
            self._findings.add("schedule", "the stored plan lacks its match", key)

    def _readable(self, rounds: range) -> Iterator[DealRecord]:
        """Yield the deals of some rounds, up to one that cannot be read."""
        try:
            yield from self._store.records(rounds)
        except DamageError as error:
            self._findings.add("store", f"round {rounds.start + 1} cannot be read: {error}")

    def _check_match(self, table: Table, records: list[DealRecord], *, must: bool) -> None:
        for at, record in enumerate(records):
            if plan_of(self._settings, record).seating != table.seating:
                self._findings.add(
                    "schedule", "others sit there than the schedule says", record.key
                )
                return
            if not self._settings.match.duplicate and record.key.deal != at:
                self._findings.add(
                    "schedule", "the deal before it in its match is not there", record.key
                )
                return
        try:
            for key, text in self._book.wrong(records, must=must):
                self._findings.add("rules", text, key)
        except (ValueError, TypeError, LookupError) as error:  # no such deal was ever dealt
            self._findings.add("rules", f"it cannot be a deal: {error}", records[0].key)


def _tables_in(folder: Path) -> dict[Path, str]:
    """Return the tables in a folder."""
    paths = [folder / name for _, name, _ in FORMATS]
    return {path: path.read_text("utf-8", "replace") for path in paths if path.is_file()}


def _are_older(tables: dict[Path, str], summary: Summary) -> bool:
    """Return whether the tables of an unfinished tournament are older than its deals.

    They may also date from its end, if it has been extended since.
    """
    said = next((_said(text) for path, text in tables.items() if path.suffix == ".json"), None)
    if summary.complete or said is None:
        return False
    return said.deals < summary.deals or (said.deals == summary.deals and said.complete)


def _said(text: str) -> _Said | None:
    try:
        return msgspec.json.decode(text, type=_Said)
    except msgspec.DecodeError:
        return None
