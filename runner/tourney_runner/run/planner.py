"""The planner of a run, which determines the missing matches block by block.

Within a block the rotations of duplicate deals are the outer loop, and a worker renews its bots
before it plays another rotation of the same deals, so a process never meets the same cards twice.
Bots that always fail are benched at the ends of blocks (see `benching`), so blocks begin small and
grow. Each costs renewals, so with duplicate deals the first has `_FIRST_DEALS` deals of each bot.
"""

from __future__ import annotations

from itertools import groupby, islice, product
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tourney_runner.play.deal_replay import match_so_far
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.results.records import DealKey
from tourney_runner.results.rulings import gone
from tourney_runner.results.store import ALL
from tourney_runner.run.benching import BENCH_AFTER, Benching
from tourney_runner.schedule.round_history import round_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.play.match_plan import MatchSoFar
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import Decision
    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import Format, RoundResult, Table

__all__ = [
    "MOST_MATCHES",
    "Block",
    "Planner",
    "Sizes",
    "Span",
    "blocks",
    "rounds_in",
    "sizes",
    "stored_round",
]

MOST_MATCHES = 2048
"""Greatest number of matches in a block, which limits the matches planned at a time."""
_FIRST_DEALS = 32
"""Least number of deals of each bot in the first block, with duplicate deals. A start of a bot
takes as long as some ten quick deals, and a bot that never answers is benched after this many.
"""


class Sizes(NamedTuple):
    """The sizes of blocks, which nothing changes that may change when a run is continued."""

    matches: int | None
    """Matches in a round; None if rounds are planned from results, each of which is a block."""
    first: int = 1
    """Rounds in the first block."""
    growth: int = 2
    """The factor by which the number of rounds up to the end of a block grows."""


class Span(NamedTuple):
    """The extent of a block: some whole rounds, or a part of a large one."""

    rounds: range
    matches: range = ALL
    """The matches of each of the rounds."""
    ends: bool = True
    """Whether it includes the end of its rounds."""


class Block(NamedTuple):
    """A group of matches, of which the missing ones are to be played."""

    number: int
    span: Span
    waves: tuple[tuple[MatchPlan, ...], ...]
    """Missing matches by rotation; a wave may start before the previous one has ended."""
    there: bool
    """Whether some of its deals are stored."""
    finished: int
    """The number of stored matches that are over (rotations counted)."""
    whole: bool
    """Whether it can be skipped once it is finished."""
    border: bool
    """Whether it ends in the same place if the tournament is extended."""


def sizes(tournament: Format[Any], rotations: int) -> Sizes:
    """Return the sizes of a tournament's blocks.

    Args:
        tournament: The format.
        rotations: Rotations of each deal, 1 for fresh deals.
    """
    matches = tournament.matches(0) if tournament.ahead() else None
    field = tournament.field
    if matches is None or rotations == 1 or field.format_rules < 3:
        return Sizes(matches)
    deals = matches * field.players * rotations / tournament.beginners()
    return Sizes(matches, first=ceil(_FIRST_DEALS / deals), growth=4)


def blocks(planned: Sizes, most_matches: int = MOST_MATCHES) -> Iterator[Span]:
    """Yield the blocks in order, up to a maximum size: 1, 1, 2, 4 ... rounds, for example.

    A round that is too large for one block is split.
    """
    size = planned.matches or most_matches
    most = max(1, most_matches // size)
    first = 0
    while True:
        last = first + min(max(planned.first, (planned.growth - 1) * first), most)
        for start in range(0, size, most_matches):
            ends = start + most_matches >= size
            stop = ALL.stop if ends else start + most_matches
            yield Span(range(first, last), range(start, stop), ends)
        first = last


def rounds_in(count: int, planned: Sizes) -> int:
    """Return the number of whole rounds in the first `count` blocks."""
    spans = islice(blocks(planned), count)
    return max((span.rounds.stop for span in spans if span.ends), default=0)


class Planner:
    """A planner of blocks, based on the format and the stored deals.

    Args:
        tournament_format: The format.
        store: The results so far.
        duplicate: Rotations of each deal; 0 for matches of fresh deals.
        most_matches: The greatest number of matches in a block; if it is less than usual, blocks
            begin with one round.
        bench_after: See `benching.Benching`.
        settings: The settings of play, by which matches of fresh deals end; if left out, such a
            match has one deal.
    """

    def __init__(  # noqa: PLR0913 - the facts that decide what is missing
        self,
        tournament_format: Format[Any],
        store: Store,
        duplicate: int,
        most_matches: int = MOST_MATCHES,
        *,
        bench_after: int = BENCH_AFTER,
        settings: PlaySettings | None = None,
    ) -> None:
        self._most_matches = most_matches
        self._sizes = sizes(tournament_format, max(1, duplicate))
        if most_matches < MOST_MATCHES:
            self._sizes = Sizes(self._sizes.matches)
        self._format = tournament_format
        self._store = store
        self._rotations = max(1, duplicate)
        self._settings = settings
        """None if every match is one deal."""
        if duplicate or (settings and settings.match.deals == 1):
            self._settings = None
        self._finished: list[RoundResult] = []
        self._benching = Benching(store, bench_after, tournament_format.field.format_rules)
        self._done = 0
        self._plans: dict[tuple[int, int], Iterator[Table]] = {}
        """The rest of a round's plan, by the round and the number of tables taken from it."""

    def total(self) -> int | None:
        """Return the number of deals of the tournament, if it is certain."""
        matches = self.matches()
        if self._settings is None or matches is None:
            return matches
        deals = self._settings.match.deals
        return matches * deals if deals and self._settings.match.target is None else None

    def matches(self) -> int | None:
        """Return the number of matches (rotations counted) of the tournament, if it is certain."""
        rounds = self._format.rounds()
        if rounds is None:
            return None
        sizes = [self._format.matches(number) for number in range(rounds)]
        if any(size is None for size in sizes):
            return None
        return sum(cast("list[int]", sizes)) * self._rotations

    def skip(self, done: int) -> None:
        """Skip the first `done` blocks, which are known to be finished and `Block.whole`."""
        self._done = done

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order; each must be played and passed to `finish` before the next."""
        ahead = self._format.ahead()
        last = self._format.rounds()
        for number, span in enumerate(blocks(self._sizes, self._most_matches)):
            rounds = span.rounds
            if last is not None and rounds.start >= last:
                return
            if number < self._done:
                continue
            there = rounds if last is None else range(rounds.start, min(rounds.stop, last))
            tables = self._tables(there, span.matches)
            if tables is None:
                return
            # A format that plans from results needs the results of every round again.
            border = there == rounds
            cut = span._replace(rounds=there)
            if self._format.field.format_rules > 1:  # rounds of rules 1 are always recomputed
                self._store.plan(
                    cut.rounds,
                    cut.matches,
                    {(table.round, table.match): tuple(table.seating) for table in tables},
                )
            yield self._block(number, cut, tables, whole=ahead and border, border=border)

    def remarks(self) -> list[str]:
        """Return the format's remarks about the rounds so far."""
        return self._format.remarks(self._finished)

    def finish(self, block: Block) -> list[Decision]:
        """Register a finished block; return the benchings that follow from it."""
        if not block.span.ends:
            return []
        if not self._format.ahead():
            self._finished += [stored_round(self._store, number) for number in block.span.rounds]
        # The end of a block that is cut short by the last round is not a border: if the tournament
        # is extended, it moves.
        if not block.border:
            return []
        return self._benching.decide(block.span.rounds, self._format.newcomer)

    def _tables(self, rounds: range, matches: range) -> list[Table] | None:
        tables: list[Table] = []
        for number in rounds:
            planned = self._read(number, matches)
            if planned is None:
                return tables or None
            tables += planned
        return tables

    def _read(self, number: int, matches: range) -> Iterator[Table] | None:
        """Return some tables of a round, or None after the last round.

        The parts of a large round are read from one plan if they are requested in order.
        """
        planned = self._plans.pop((number, matches.start), None)
        if planned is None:
            planned = self._format.plan(number, self._finished)
            if planned is None:
                return None
            planned = islice(planned, matches.start, None)
        if matches.stop < ALL.stop:
            self._plans = {(number, matches.stop): planned}
        return islice(planned, len(matches))

    def _block(
        self, number: int, span: Span, tables: list[Table], *, whole: bool, border: bool
    ) -> Block:
        forfeits = self._benching.forfeits()
        stored = self._stored(span)
        finished = 0
        waves: list[list[MatchPlan]] = [[] for _ in range(self._rotations)]
        for rotation, table in product(range(self._rotations), tables):
            key = DealKey(table.round, table.match, rotation)
            so_far = stored.get(key)
            if key in stored and so_far is None:
                finished += 1
                continue
            retired = tuple(
                filter(None, (forfeits(table.round, bot) for bot in table.seating)),
            )
            waves[rotation].append(MatchPlan(*key[:2], table.seating, rotation, retired, so_far))
        return Block(number, span, tuple(map(tuple, waves)), bool(stored), finished, whole, border)

    def _stored(self, span: Span) -> dict[DealKey, MatchSoFar | None]:
        """Return the stored rotations or matches; the value is None where one is over.

        The key of a match of fresh deals is that of its first deal.
        """
        there = self._store.keys(span.rounds, self._rotations, span.matches)
        settings = self._settings
        if settings is None or not there:
            return dict.fromkeys(there)
        records = self._store.records(span.rounds, span.matches)
        return {
            DealKey(number, match, 0): match_so_far(settings, list(deals))
            for (number, match), deals in groupby(records, key=lambda record: record.key[:2])
        }


def stored_round(store: Store, number: int) -> RoundResult:
    """Return the result of a stored round for a format, with the entrants that have left since."""
    return round_result(number, store.planned_from(number), gone(store, number + 1))
