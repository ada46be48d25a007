"""The progress of a run, and the interface of reporters that show it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tourney_runner.ratings.rated_deals import average_places
from tourney_runner.results.records import DealRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.results.records import DealOutcome

__all__ = ["Progress", "Reporter", "Tally", "Unit"]

Unit = Literal["deal", "match"]


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
    """The total number of units, if it is certain."""
    tallies: list[Tally]
    unit: Unit = "match"
    """The unit that is played and stored whole: a deal where rotations are played one by one."""
    done: int = 0
    """Stored units, including those of earlier runs."""
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
        """The played part in words: ``120 of 288 deals``."""
        units = {"deal": "deals", "match": "matches"}[self.unit]
        of_all = "" if self.total is None else f"of {self.total:,} "
        return f"{self.done:,} {of_all}{units}"

    def add(self, record: DealRecord | DealOutcome, *, earlier: bool = False) -> None:
        """Count a deal.

        Args:
            record: The deal.
            earlier: Whether an earlier run played it.
        """
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
        matches = set()
        self.done = 0
        for deal in deals:
            self.add(deal, earlier=True)
            self.done += 1
            matches.add(deal.key[:2])
        if self.unit == "match":
            self.done = len(matches)


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
