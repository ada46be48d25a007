"""The progress of a run: counts, checkpoints and the interface of reporters that show it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.ratings.model import average_places
from tourney_runner.results.records import DealRecord
from tourney_runner.results.store import CHECKPOINT, Store
from tourney_runner.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.results.records import DealOutcome
    from tourney_runner.run.planner import Planner

__all__ = ["Progress", "Reporter", "Tally", "finished_blocks", "keep", "take_up"]


@dataclass
class Tally:
    """The results of one entrant so far, counted as deals arrive."""

    name: str
    deals: int = 0
    points: float = 0.0
    places: float = 0.0
    """The sum of its places, with shared places averaged."""
    faults: int = 0

    @property
    def mean_place(self) -> float:
        """The mean place from 1; 0 before the first deal."""
        return self.places / self.deals if self.deals else 0.0


@dataclass
class Progress:
    """The progress of a run."""

    total: int | None
    """The total number of deals, if it is certain."""
    tallies: list[Tally]
    matches: int | None = None
    """The total number of matches, if only that is certain: each match ends at a target."""
    done: int = 0
    """Stored deals, including those of earlier runs."""
    finished: int = 0
    """Finished matches, including those of earlier runs; rotations are counted."""
    deals: int = 0
    """Deals of this run."""
    moves: int = 0
    """Moves of this run."""
    waiting: dict[int, str] = field(default_factory=dict)
    """The bots that workers wait for, by task."""
    chatty: set[int] = field(default_factory=set)
    """The entrants whose output in this run had lines that answered no request."""

    @property
    def share(self) -> str:
        """The played part in words: ``120 of 288 deals``, ``57 deals, 3 of 20 matches``."""
        if self.total is not None:
            return f"{self.done:,} of {counted(self.total, 'deal')}"
        if self.matches is None:
            return counted(self.done, "deal")
        matches = counted(self.matches, "match", "matches")
        return f"{counted(self.done, 'deal')}, {self.finished:,} of {matches}"

    @property
    def steps(self) -> tuple[int, int | None]:
        """The stored deals and their total, or the same of matches if only that is certain."""
        if self.total is None and self.matches is not None:
            return self.finished, self.matches
        return self.done, self.total

    def add(self, record: DealRecord | DealOutcome, *, earlier: bool = False) -> None:
        """Count a stored deal.

        Args:
            record: The deal.
            earlier: Whether an earlier run played it.
        """
        self.done += 1
        if not earlier and isinstance(record, DealRecord):
            self.deals += 1
            self.moves += sum(time.moves for time in record.times)
        averages = average_places(record.places)
        for entrant, place, points in zip(record.seating, averages, record.points, strict=True):
            tally = self.tallies[entrant]
            tally.deals += 1
            tally.points += points
            tally.places += place
        for fault in record.faults:
            if fault.unplayed:
                continue
            self.tallies[fault.entrant].faults += 1

    def recount(self, deals: Iterable[DealRecord | DealOutcome]) -> None:
        """Count all stored deals from scratch.

        A run that continues counts the stored deals of a block only when it reaches that block.
        """
        self.tallies = [Tally(tally.name) for tally in self.tallies]
        self.matches = None  # deals alone do not say how many matches are over
        self.done = 0
        for deal in deals:
            self.add(deal, earlier=True)


class Reporter(ABC):
    """A receiver of a run's progress; called from one thread."""

    @abstractmethod
    def say(self, line: str) -> None:
        """Show a line permanently."""

    @abstractmethod
    def begin(self, progress: Progress) -> None:
        """Start showing progress."""

    @abstractmethod
    def update(self, progress: Progress) -> None:
        """Update the progress; called several times a second."""

    @abstractmethod
    def end(self) -> None:
        """Stop showing progress; may be called without `begin`, and repeatedly."""

    @abstractmethod
    def so_far(self, progress: Progress) -> None:
        """Show the standings of an interrupted run."""


class _Checkpoint(msgspec.Struct, frozen=True):
    """Counts of the first `blocks` blocks, all of whose deals are stored.

    It is derived from the deals and can be discarded at any time. The store discards it when deals
    are removed.
    """

    blocks: int
    deals: int
    finished: int
    """Finished matches, see `Progress.finished`."""
    tallies: tuple[Tally, ...]


def keep(store: Store, blocks: int, progress: Progress) -> None:
    """Store the counts once the first `blocks` blocks are finished.

    Raises:
        RunError: The disk fails.
    """
    known = _Checkpoint(blocks, progress.done, progress.finished, tuple(progress.tallies))
    store.keep_note(CHECKPOINT, msgspec.to_builtins(known))


def take_up(store: Store, planner: Planner, progress: Progress) -> None:
    """Set planner and counts to the last stored checkpoint, if there is one."""
    known = _kept(store)
    if known is None:
        return
    planner.skip(known.blocks)
    progress.done, progress.finished = known.deals, known.finished
    progress.tallies[: len(known.tallies)] = known.tallies  # others have joined since


def finished_blocks(store: Store) -> int:
    """Return the number of blocks, from the first, known to have all their deals stored."""
    known = _kept(store)
    return 0 if known is None else known.blocks


def _kept(store: Store) -> _Checkpoint | None:
    kept = store.note(CHECKPOINT)
    if kept is None or "deals" not in kept:  # earlier versions counted matches
        return None
    return msgspec.convert(kept, _Checkpoint)
