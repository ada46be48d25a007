"""The statistics that pages show beyond the table, the rows of the table and its faults.

Only sums and a few numbers of a deal are kept, so a hundred thousand deals need no more memory than
the pages themselves.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from tourney_runner.publish.publish_options import fault_text
from tourney_runner.publish.round_tables import RoundOfTables, RoundTables
from tourney_runner.publish.summary import Ruling, scoreboard
from tourney_runner.ratings.analysis import Analysis, Means, SeatResult, analyse
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.table import Interval, Standing
from tourney_runner.results.rulings import counting_deals, disqualified, outcomes
from tourney_runner.schedule.registry import format_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.publish.summary import Summary
    from tourney_runner.ratings.standings import Scoreboard
    from tourney_runner.ratings.table import Standings
    from tourney_runner.results.records import DealRecord, FaultKind, SeatTime
    from tourney_runner.results.store import Store
    from tourney_runner.results.tournament_record import TournamentRecord

__all__ = [
    "FAULT_MEANINGS",
    "BotResults",
    "DealRef",
    "Endings",
    "FaultRef",
    "History",
    "Meeting",
    "Row",
    "SlowRef",
    "Span",
    "SpoiltRef",
    "TimeUse",
    "TournamentStatistics",
    "Trouble",
    "gather",
    "rows",
    "troubles",
]


_LOOKS = 30
_LOOK_RATIO = 0.75
"""The ratings for the history and their intervals are computed after all deals, after this share of
them, after this share of that, and so on; together this costs four times as much as the last
computation.
"""
_NOTABLE = 5
"""Best, worst and slowest deals of a bot."""
_FAULTS_SHOWN = 20
_MILLISECOND = 1e6


class DealRef(msgspec.Struct, frozen=True, order=True):
    """A deal from the view of one of its bots."""

    number: int
    """In schedule order, from 1."""
    place: int
    points: float
    moves: int
    """Moves of all players together."""


class SlowRef(msgspec.Struct, frozen=True, order=True):
    """The slowest answer of a bot in a deal."""

    number: int
    milliseconds: float


class FaultRef(msgspec.Struct, frozen=True):
    """A fault, as far as it may be shown."""

    number: int
    move: int
    """The move at which it happened, from 1."""
    kind: str
    text: str


class SpoiltRef(msgspec.Struct, frozen=True):
    """A deal that the host had spoilt, so that it was played again at once."""

    number: int
    reasons: tuple[str, ...]
    """One for each time that it was spoilt."""


class Meeting(msgspec.Struct, frozen=True):
    """The results of one bot against another."""

    deals: int
    ahead: float
    """Deals in which the first finished before the second; ties count half."""
    stronger: float
    """The probability that the first is stronger, by rating."""

    @property
    def share(self) -> float | None:
        """The share of the deals in which the first was ahead; None if they never met."""
        return self.ahead / self.deals if self.deals else None

    @property
    def error(self) -> float | None:
        """Half of the 95 % interval of `share`, as if deals were independent (Agresti-Coull)."""
        if not self.deals:
            return None
        deals = self.deals + 4
        share = (self.ahead + 2) / deals
        return 1.96 * math.sqrt(share * (1 - share) / deals)


class TimeUse(msgspec.Struct, frozen=True):
    """Milliseconds per move; the median and the quartiles are of the average move of each deal."""

    moves: int
    median: float
    quarter: float
    three_quarters: float
    longest: float
    """The slowest single answer."""


class BotResults(msgspec.Struct, frozen=True):
    """The results of one bot, besides its row in the table."""

    means: Means
    """Its mean place and points with intervals."""
    seats: tuple[SeatResult, ...]
    """Its results in each seat of a table."""
    against: tuple[Meeting, ...]
    """By entrant."""
    time: TimeUse | None
    """None for a bot that was never asked."""
    best: tuple[DealRef, ...]
    """Most points first; of equal deals the shorter first."""
    worst: tuple[DealRef, ...]
    slowest: tuple[SlowRef, ...]
    faults: tuple[FaultRef, ...]
    """The first faults."""


class History(msgspec.Struct, frozen=True):
    """The ratings over the course of the tournament."""

    deals: tuple[int, ...]
    mu: tuple[tuple[float, ...], ...]
    """By entrant, after each of the numbers of deals."""
    interval: tuple[tuple[Interval | None, ...], ...]
    """The 95 % intervals of the same ratings, as in the table; None with too few matches."""


class Endings(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of deals by how they ended."""

    deals: int
    """All deals that count."""
    cut_short: int
    """Deals that were ended after `max_moves`."""
    without_moves: int
    """Deals that the cards decided at once."""
    with_faults: int
    """Deals in which a bot failed."""
    unplayed: int
    """Deals that a benched bot forfeited unplayed."""
    shared_first: int
    """Deals in which several bots share the first place."""
    faults: dict[str, int]
    """Deals with a fault of each kind."""
    moves: tuple[int, int, int] | None
    """The smallest, the median and the largest number of moves of deals with moves and without
    faults; None if there are none."""


class TournamentStatistics(msgspec.Struct, frozen=True):
    """The statistics of a tournament."""

    bots: tuple[BotResults, ...]
    """By entrant."""
    history: History
    endings: Endings
    spoilt: tuple[SpoiltRef, ...]
    """All deals that the host had spoilt before they were played again."""
    cut_short: tuple[int, ...] = ()
    """The numbers of the deals that were ended after `max_moves`."""
    rounds: tuple[RoundOfTables, ...] = ()
    """The tables of each round, for formats that show them."""


RefT = TypeVar("RefT", DealRef, SlowRef)


class _Notable(Generic[RefT]):
    """The few deals with the highest keys; of equal ones the earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[float, ...], RefT]] = []
        self.floor: tuple[float, ...] = ()
        """Only a deal with a greater key is among the few; most deals are not."""

    def add(self, key: tuple[float, ...], ref: RefT) -> None:
        """Add a deal with a key above the floor; deals come in the order of their numbers."""
        full = (*key, -ref.number)
        if len(self._heap) < _NOTABLE:
            heapq.heappush(self._heap, (full, ref))
        else:
            heapq.heapreplace(self._heap, (full, ref))
        if len(self._heap) == _NOTABLE:
            self.floor = self._heap[0][0][:-1]

    def in_order(self) -> tuple[RefT, ...]:
        return tuple(ref for _, ref in sorted(self._heap, reverse=True))


class _Bot:
    """Sums of one bot."""

    def __init__(self) -> None:
        self.moves = 0
        self.averages = array("d")
        """The average time of a move, one value for each deal."""
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
        if (milliseconds,) > self.slowest.floor:
            self.slowest.add((milliseconds,), SlowRef(number, milliseconds))

    def results(
        self, table: Standings, analysis: Analysis, entrant: int, players: int
    ) -> BotResults:
        means = analysis.entrants[entrant]
        unused = [SeatResult(0, None, None)] * (players - len(means.seats))
        rows = (analysis.met[entrant], analysis.ahead[entrant], table.superiority[entrant])
        return BotResults(
            means=means,
            seats=(*means.seats, *unused),
            against=tuple(map(Meeting, *rows)),
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


class _EndingCounts:
    """Counts of how deals ended."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._moves = array("l")

    def add(self, record: DealRecord) -> None:
        """Count a deal."""
        kinds = {fault.kind for fault in record.faults if not fault.unplayed}
        moves = sum(time.moves for time in record.times)
        self._faults.update(kinds)
        self._counts["deals"] += 1
        self._counts["without_moves"] += not moves and not record.faults
        self._counts["with_faults"] += bool(kinds)
        self._counts["unplayed"] += any(fault.unplayed for fault in record.faults)
        self._counts["shared_first"] += record.places.count(1) > 1
        if moves and not record.faults:
            self._moves.append(moves)

    def done(self, cut_short: int) -> Endings:
        """Return the numbers.

        Args:
            cut_short: Deals that were ended after `max_moves`.
        """
        ordered = sorted(self._moves)
        middle = ordered[(len(ordered) - 1) // 2] if ordered else 0
        names = ("deals", "without_moves", "with_faults", "unplayed", "shared_first")
        return Endings(
            **{name: self._counts[name] for name in names},
            cut_short=cut_short,
            faults=dict(sorted(self._faults.items())),
            moves=(ordered[0], middle, ordered[-1]) if ordered else None,
        )


class _Gatherer:
    """A collector of statistics, to which deals are added in schedule order."""

    def __init__(self, facts: TournamentRecord, deals: int, choices: PublishChoices) -> None:
        entrants = len(facts.entrants)
        self._logs = choices.logs
        self._players = facts.rules["players"]
        self._bots = [_Bot() for _ in range(entrants)]
        self._deals = 0
        self._looks = {round(deals * _LOOK_RATIO**look) for look in range(_LOOKS)}
        self._marks = [0]
        self._ratings = [[facts.rating.get("mu", Model.mu)] * entrants]
        self._intervals: list[list[Interval | None]] = [[None] * entrants]
        self._board: Scoreboard | None = None
        self._spoilt: list[SpoiltRef] = []
        self._cut_short: list[int] = []
        self._endings = _EndingCounts()
        schedule = facts.schedule
        shown = schedule is not None and format_class(schedule.format).shows_rounds
        self._rounds = RoundTables() if shown else None

    def add(self, number: int, record: DealRecord) -> None:
        """Add a deal that counts.

        Args:
            number: The number of the deal among all deals.
            record: The deal.
        """
        self._add_results(number, record)
        self._endings.add(record)
        if self._rounds is not None:
            self._rounds.add(record)
        if record.voids:
            self._spoilt.append(SpoiltRef(number, record.voids))
        if record.cut_short:
            self._cut_short.append(number)
        for fault in record.faults:
            shown = self._bots[fault.entrant].faults
            if len(shown) < _FAULTS_SHOWN and not fault.unplayed:
                text = fault_text(fault, self._logs)
                shown.append(FaultRef(number, fault.move + 1, fault.kind, text))

    def watch(self, board: Scoreboard) -> None:
        """Count a deal, and record the ratings at some of them."""
        self._deals += 1
        self._board = board
        if self._deals in self._looks:
            self._mark(board)

    def done(self, table: Standings, analysis: Analysis) -> TournamentStatistics:
        """Return the statistics, with the table's claims."""
        if self._board is not None and self._marks[-1] != self._deals:
            self._mark(self._board)
        bots = tuple(
            bot.results(table, analysis, entrant, self._players)
            for entrant, bot in enumerate(self._bots)
        )
        mu, interval = (
            tuple(zip(*looks, strict=True)) for looks in (self._ratings, self._intervals)
        )
        history = History(tuple(self._marks), mu, interval)
        rounds = () if self._rounds is None else self._rounds.rounds()
        endings = self._endings.done(len(self._cut_short))
        spoilt, cut_short = tuple(self._spoilt), tuple(self._cut_short)
        return TournamentStatistics(bots, history, endings, spoilt, cut_short, rounds)

    def _mark(self, board: Scoreboard) -> None:
        self._marks.append(self._deals)
        ratings, intervals = board.intervals()
        self._ratings.append([rating.mu for rating in ratings])
        self._intervals.append(intervals)

    def _add_results(self, number: int, record: DealRecord) -> None:
        moves = sum([time.moves for time in record.times])
        failed = {fault.entrant for fault in record.faults}
        rows = zip(record.seating, record.places, record.points, record.times, strict=True)
        for entrant, place, points, time in rows:
            bot = self._bots[entrant]
            if moves:  # a deal that the cards decide at once has nothing to watch
                best = (entrant not in failed, points, -place, -moves)
                if best > bot.best.floor:
                    bot.best.add(best, DealRef(number, place, points, moves))
                worst = (-points, place, -moves)
                if worst > bot.worst.floor:
                    bot.worst.add(worst, DealRef(number, place, points, moves))
            bot.add_time(number, time)


def gather(store: Store, choices: PublishChoices) -> tuple[Standings, TournamentStatistics]:
    """Compute the table and the statistics of a results file, in one pass over its deals.

    Args:
        store: The results.
        choices: The choices for published pages.

    Raises:
        UsageError: No tournament was begun there.
    """
    counting = sum(1 for _ in outcomes(store)) if disqualified(store) else store.count()
    gatherer = _Gatherer(store.about(), counting, choices)

    def deals() -> Iterator[DealRecord]:
        for number, record in counting_deals(store):
            gatherer.add(number, record)
            yield record

    table, analysis = analyse(scoreboard(store), deals(), watch=gatherer.watch)
    return table, gatherer.done(table, analysis)


class Span(msgspec.Struct, frozen=True):
    """An interval and its middle in percent of the width of a chart."""

    left: float
    width: float
    dot: float


class Row(msgspec.Struct, frozen=True):
    """The row of a bot."""

    number: int
    """The bot's number among the entrants, from 0."""
    page: str
    """The bot's page, relative to the site's root."""
    badge: str
    language: str
    author: str
    standing: Standing
    means: Means
    """Its plain means with 95 % intervals."""
    rating_span: Span | None
    """The interval of the rating; None with too few matches."""
    fault_count: int
    ruling: Ruling | None
    """The organiser's decision about it."""

    @property
    def is_out(self) -> bool:
        """Whether it was disqualified, and so is not in the ranking."""
        return self.standing.status == "disqualified"

    @property
    def is_ranked(self) -> bool:
        """Whether it has a rank among the others."""
        return self.standing.status == "ranked"


def rows(summary: Summary, bots: Sequence[BotResults]) -> tuple[Row, ...]:
    """Return all bots in the order of the ranking.

    Args:
        summary: The table.
        bots: The bots' results, by entrant.
    """
    numbers = {entrant.name: number for number, entrant in enumerate(summary.facts.entrants)}
    found = [(numbers[standing.name], standing) for standing in summary.entrants]
    known = [standing for _, standing in found if standing.interval is not None]
    playing = [
        standing
        for standing in known
        if standing.status != "disqualified" and 2 * sum(standing.faults.values()) <= standing.deals
    ]
    scale = _scale([one.interval for one in playing or known if one.interval is not None])
    return tuple(
        _row(summary, number, standing, bots[number].means, scale) for number, standing in found
    )


def _row(summary: Summary, number: int, standing: Standing, means: Means, scale: Interval) -> Row:
    entrant = summary.facts.entrants[number]
    return Row(
        number=number,
        page=f"bots/{number + 1:03}.html",
        badge=f"badges/{number + 1:03}.svg",
        language=entrant.language,
        author=entrant.author,
        standing=standing,
        means=means,
        rating_span=None
        if standing.interval is None
        else _span(standing.interval, standing.mu, scale),
        fault_count=sum(standing.faults.values()),
        ruling=summary.ruling(standing.name),
    )


def _scale(intervals: Sequence[Interval]) -> Interval:
    """Return the range of ratings that the width of a bar represents.

    Bots that are disqualified or fail in most deals are left out: they would shrink all other bars.
    """
    low = min((interval.low for interval in intervals), default=0.0)
    high = max((interval.high for interval in intervals), default=1.0)
    return Interval(low, high if high > low else low + 1)


def _span(interval: Interval, middle: float, scale: Interval) -> Span:
    low, high, dot = (_percent(value, scale) for value in (interval.low, interval.high, middle))
    return Span(left=low, width=round(high - low, 1), dot=dot)


def _percent(value: float, scale: Interval) -> float:
    """Return the position of a value on the scale, in percent; values outside are clipped."""
    share = (value - scale.low) / (scale.high - scale.low)
    return round(100 * min(1.0, max(0.0, share)), 1)


FAULT_MEANINGS: dict[FaultKind, str] = {
    "start": "it could not be started, or never reported that it was ready",
    "crash": "it ended, or closed its output, instead of answering",
    "timeout": "it did not answer in time",
    "illegal": "it played something that the rules forbid",
    "malformed": "its output was not a valid answer",
    "flood": "it wrote more output than allowed",
    "memory": "it used more memory than allowed",
}
"""The meaning of each kind of fault, for spectators."""


class Trouble(msgspec.Struct, frozen=True):
    """All faults of one kind of one bot."""

    row: Row
    """The bot."""
    kind: str
    count: int
    first: FaultRef | None
    """The first of them; None if it is not among the faults that were kept."""


def troubles(rows: Sequence[Row], bots: Sequence[BotResults]) -> Iterator[Trouble]:
    """Yield the faults of all bots, in the order of the ranking.

    Args:
        rows: The bots by rank.
        bots: Their results, by entrant.
    """
    for row in rows:
        for kind, count in row.standing.faults.items():
            known = bots[row.number].faults
            first = next((fault for fault in known if fault.kind == kind), None)
            yield Trouble(row, kind, count, first)
