"""All that the pages show beyond the table, gathered in one pass over the deals.

Nothing is kept of a deal but sums and a few numbers, so a hundred thousand deals need no more
memory than the pages themselves.
"""

from __future__ import annotations

import heapq
from array import array
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from runner.publish.choices import fault_text
from runner.ratings.deals import average_places
from runner.ratings.model import Model
from runner.ratings.raters import rater
from runner.results.rulings import counted

if TYPE_CHECKING:
    from runner.publish.choices import PublishChoices
    from runner.publish.summary import Summary
    from runner.results.records import DealRecord, SeatTime
    from runner.results.store import Store

__all__ = [
    "BotResults",
    "DealRef",
    "FaultRef",
    "Gathered",
    "History",
    "Meeting",
    "SeatResult",
    "SlowRef",
    "TimeUse",
    "gather",
]

_CHECKPOINTS = 60
"""How often the ratings are looked at for their history."""
_NOTABLE = 5
"""Best, worst and slowest deals of a bot."""
_FAULTS_SHOWN = 20
_MILLISECOND = 1e6


class DealRef(msgspec.Struct, frozen=True, order=True):
    """A deal as one of its bots sees it."""

    number: int
    """In schedule order, from 1."""
    place: int
    points: float
    moves: int
    """Of all players together."""


class SlowRef(msgspec.Struct, frozen=True, order=True):
    """The slowest answer of a bot in a deal."""

    number: int
    milliseconds: float


class FaultRef(msgspec.Struct, frozen=True):
    """A fault, as much of it as may be shown."""

    number: int
    move: int
    """The move at which it happened, from 1."""
    kind: str
    text: str


class Meeting(msgspec.Struct, frozen=True):
    """What two bots did against each other."""

    deals: int
    ahead: float
    """Deals in which the one finished before the other; ties count half."""

    @property
    def share(self) -> float | None:
        """Of the deals; None where they never met."""
        return self.ahead / self.deals if self.deals else None


class SeatResult(msgspec.Struct, frozen=True):
    """What a bot did in one seat."""

    deals: int
    mean_place: float | None
    points: float


class TimeUse(msgspec.Struct, frozen=True):
    """Milliseconds a move; the first three are of a deal's average move."""

    moves: int
    median: float
    quarter: float
    three_quarters: float
    longest: float
    """The slowest single answer."""


class BotResults(msgspec.Struct, frozen=True):
    """What one bot did, besides its row in the table."""

    seats: tuple[SeatResult, ...]
    against: tuple[Meeting, ...]
    """By entrant."""
    time: TimeUse | None
    """None for a bot that was never asked."""
    best: tuple[DealRef, ...]
    """Most points first, the shorter deal before the longer."""
    worst: tuple[DealRef, ...]
    slowest: tuple[SlowRef, ...]
    faults: tuple[FaultRef, ...]
    """The first ones."""


class History(msgspec.Struct, frozen=True):
    """Ratings on the way."""

    deals: tuple[int, ...]
    mu: tuple[tuple[float, ...], ...]
    """By entrant, after so many deals."""


class Gathered(msgspec.Struct, frozen=True):
    """All of it."""

    bots: tuple[BotResults, ...]
    """By entrant."""
    history: History


RefT = TypeVar("RefT", DealRef, SlowRef)


class _Notable(Generic[RefT]):
    """The few deals with the highest keys; of equal ones the earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[float, ...], RefT]] = []

    def add(self, key: tuple[float, ...], ref: RefT) -> None:
        full = (*key, -ref.number)
        if len(self._heap) < _NOTABLE:
            heapq.heappush(self._heap, (full, ref))
        elif full > self._heap[0][0]:
            heapq.heapreplace(self._heap, (full, ref))

    def in_order(self) -> tuple[RefT, ...]:
        return tuple(ref for _, ref in sorted(self._heap, reverse=True))


class _Bot:
    """Sums of one bot."""

    def __init__(self, entrants: int, players: int) -> None:
        self.seats = [_Seat() for _ in range(players)]
        self.met = [0] * entrants
        self.ahead = [0.0] * entrants
        self.moves = 0
        self.averages = array("d")
        """Of a move's time, one a deal."""
        self.longest = 0
        self.best: _Notable[DealRef] = _Notable()
        self.worst: _Notable[DealRef] = _Notable()
        self.slowest: _Notable[SlowRef] = _Notable()
        self.faults: list[FaultRef] = []

    def add_time(self, number: int, time: SeatTime) -> None:
        if not time.moves:
            return
        self.moves += time.moves
        self.averages.append(time.total / time.moves)
        self.longest = max(self.longest, time.longest)
        milliseconds = time.longest / _MILLISECOND
        self.slowest.add((milliseconds,), SlowRef(number, milliseconds))

    def results(self) -> BotResults:
        return BotResults(
            seats=tuple(seat.result() for seat in self.seats),
            against=tuple(map(Meeting, self.met, self.ahead)),
            time=self._time(),
            best=self.best.in_order(),
            worst=self.worst.in_order(),
            slowest=self.slowest.in_order(),
            faults=tuple(self.faults),
        )

    def _time(self) -> TimeUse | None:
        if not self.averages:
            return None
        ordered = sorted(self.averages)
        quarter, median, three_quarters = (
            ordered[round(part * (len(ordered) - 1))] / _MILLISECOND for part in (0.25, 0.5, 0.75)
        )
        return TimeUse(self.moves, median, quarter, three_quarters, self.longest / _MILLISECOND)


class _Seat:
    """Sums of one bot in one seat."""

    __slots__ = ("deals", "places", "points")

    def __init__(self) -> None:
        self.deals = 0
        self.places = 0.0
        self.points = 0.0

    def result(self) -> SeatResult:
        mean = self.places / self.deals if self.deals else None
        return SeatResult(self.deals, mean, self.points)


class _Gatherer:
    """Takes deals in, in schedule order."""

    def __init__(self, summary: Summary, choices: PublishChoices) -> None:
        entrants = len(summary.facts.entrants)
        self._logs = choices.logs
        self._bots = [_Bot(entrants, summary.facts.rules["players"]) for _ in range(entrants)]
        self._rater = rater("sequential", Model(**summary.facts.rating), entrants)
        self._deals = 0
        self._every = max(1, summary.deals // _CHECKPOINTS)
        self._marks: list[int] = []
        self._history: list[list[float]] = []
        self._mark(0)

    def add(self, number: int, record: DealRecord) -> None:
        """Take in a deal that counts; its number is that among all."""
        self._add_results(number, record)
        self._add_meetings(record)
        for fault in record.faults:
            shown = self._bots[fault.entrant].faults
            if len(shown) < _FAULTS_SHOWN:
                text = fault_text(fault, self._logs)
                shown.append(FaultRef(number, fault.move + 1, fault.kind, text))
        self._rater.add(record)
        self._deals += 1
        if self._deals % self._every == 0:
            self._mark(self._deals)

    def done(self, deals: int) -> Gathered:
        """What came together."""
        if self._marks[-1] != deals:
            self._mark(deals)
        bots = tuple(bot.results() for bot in self._bots)
        mu = tuple(zip(*self._history, strict=True))
        return Gathered(bots, History(tuple(self._marks), mu))

    def _mark(self, deals: int) -> None:
        self._marks.append(deals)
        self._history.append([rating.mu for rating in self._rater.ratings()])

    def _add_results(self, number: int, record: DealRecord) -> None:
        moves = sum(time.moves for time in record.times)
        averages = average_places(record.places)
        for seat, entrant in enumerate(record.seating):
            bot = self._bots[entrant]
            points = record.points[seat]
            here = bot.seats[seat]
            here.deals += 1
            here.places += averages[seat]
            here.points += points
            ref = DealRef(number, record.places[seat], points, moves)
            bot.best.add((points, -moves), ref)
            bot.worst.add((-points, -moves), ref)
            bot.add_time(number, record.times[seat])

    def _add_meetings(self, record: DealRecord) -> None:
        finished = list(zip(record.seating, record.places, strict=True))
        for entrant, place in finished:
            bot = self._bots[entrant]
            met, ahead = bot.met, bot.ahead
            for other, other_place in finished:
                met[other] += 1
                if place <= other_place:
                    ahead[other] += 1.0 if place < other_place else 0.5


def gather(store: Store, summary: Summary, choices: PublishChoices) -> Gathered:
    """Read all deals of a results file.

    Args:
        store: The results.
        summary: Their table.
        choices: What may be shown of faults.
    """
    gatherer = _Gatherer(summary, choices)
    for number, record in counted(store):
        gatherer.add(number, record)
    return gatherer.done(summary.deals)
