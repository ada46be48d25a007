"""What a run tells while it goes on; who listens decides how it looks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tourney_runner.ratings.rated_deals import average_places

if TYPE_CHECKING:
    from tourney_runner.results.records import DealRecord

__all__ = ["Progress", "Reporter", "Tally", "Unit"]

Unit = Literal["deal", "match"]


@dataclass
class Tally:
    """What one entrant has done so far, counted as deals come in."""

    name: str
    deals: int = 0
    points: float = 0.0
    places: float = 0.0
    """The sum of its places, shared ones averaged."""
    faults: int = 0

    @property
    def mean_place(self) -> float:
        """From 1, or 0 before the first deal."""
        return self.places / self.deals if self.deals else 0.0


@dataclass
class Progress:
    """How far a run is."""

    total: int | None
    """Units in all, if that is certain."""
    tallies: list[Tally]
    unit: Unit = "match"
    """What is played and stored whole: a deal where its rotations are played one by one."""
    done: int = 0
    """Units that are stored, those of earlier runs included."""
    deals: int = 0
    """Deals of this run."""
    moves: int = 0
    """Moves of this run."""
    waiting: dict[int, str] = field(default_factory=dict)
    """The bots that are being waited for, by task."""
    chatty: set[int] = field(default_factory=set)
    """The entrants that wrote lines in this run which answered nothing."""

    @property
    def share(self) -> str:
        """How much is played, in words: ``120 of 288 deals``."""
        units = {"deal": "deals", "match": "matches"}[self.unit]
        of_all = "" if self.total is None else f"of {self.total:,} "
        return f"{self.done:,} {of_all}{units}"

    def add(self, record: DealRecord, *, earlier: bool = False) -> None:
        """Count a deal.

        Args:
            record: The deal.
            earlier: Whether it was played by an earlier run.
        """
        if not earlier:
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


class Reporter(ABC):
    """Told what happens; called from one thread."""

    @abstractmethod
    def say(self, line: str) -> None:
        """A line that stays."""

    @abstractmethod
    def begin(self, progress: Progress) -> None:
        """Play begins."""

    @abstractmethod
    def update(self, progress: Progress) -> None:
        """Something has changed, or some time has passed."""

    @abstractmethod
    def end(self) -> None:
        """Play has ended, in whatever way; may be called without `begin`, and again."""

    @abstractmethod
    def so_far(self, progress: Progress) -> None:
        """Play was interrupted: these are the standings so far."""
