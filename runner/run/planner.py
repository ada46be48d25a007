"""What is played next: rounds in blocks, rotations in turn, nothing twice.

Within a block the rotations of duplicate deals are the outer loop, and every worker renews its
bots between two rotations, so no process ever meets the same cards twice. Blocks grow from one
round: a bot that fails in every deal of a round is found out after the first, and long runs
still renew their bots seldom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from runner.play.settings import MatchPlan, Retired
from runner.results.records import DealKey
from runner.schedule.base import RoundResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.results.records import FaultKind
    from runner.results.store import Store
    from runner.schedule.base import Format, Table

__all__ = ["Block", "Planner", "blocks"]

_MOST_MATCHES = 2048
"""Of one block; bounds what is planned and remembered at a time."""


class Block(NamedTuple):
    """Some rounds, of which the missing matches are to be played."""

    number: int
    rounds: range
    waves: tuple[tuple[int, tuple[MatchPlan, ...]], ...]
    """(epoch, missing matches) by rotation; one may start before the one before it has ended."""
    there: int
    """How many matches (rotations counted) are stored already."""


def blocks(rounds: int | None, matches_a_round: int | None) -> Iterator[range]:
    """The rounds of one block after the other: 1, 1, 2, 4 ... rounds, as far as they stay small.

    The borders depend on nothing that may change when a run is continued.
    """
    most = max(1, _MOST_MATCHES // (matches_a_round or _MOST_MATCHES))
    first = 0
    while rounds is None or first < rounds:
        size = min(max(1, first), most)
        last = first + size if rounds is None else min(first + size, rounds)
        yield range(first, last)
        first += size


class Planner:
    """Plans block by block, from the format and from what the store already holds.

    Args:
        tournament_format: Who meets whom.
        store: The results so far.
        duplicate: Rotations of each deal; 0 for matches of fresh deals.
    """

    def __init__(self, tournament_format: Format[Any], store: Store, duplicate: int) -> None:
        self._format = tournament_format
        self._store = store
        self._rotations = max(1, duplicate)
        self._finished: list[RoundResult] = []
        self._retired: dict[int, Retired] = {}

    def total(self) -> int | None:
        """How many matches (rotations counted) the whole tournament has, if that is certain."""
        rounds = self._format.rounds()
        if rounds is None:
            return None
        sizes = [self._format.matches(number) for number in range(rounds)]
        if any(size is None for size in sizes):
            return None
        return sum(cast("list[int]", sizes)) * self._rotations

    @property
    def retired(self) -> dict[int, Retired]:
        """Entrants that forfeit all blocks after the ones taken from `blocks` so far."""
        return self._retired

    def blocks(self) -> Iterator[Block]:
        """The blocks in turn. All matches of one must be stored before the next is asked for."""
        ahead = self._format.ahead()
        size = self._format.matches(0) if ahead else None
        for number, rounds in enumerate(blocks(self._format.rounds(), size)):
            tables = self._tables(rounds)
            if tables is None:
                return
            yield self._block(number, rounds, tables)
            self._retire(rounds)
            if not ahead:
                self._finished += [self._result(number) for number in rounds]

    def _tables(self, rounds: range) -> list[Table] | None:
        tables: list[Table] = []
        for number in rounds:
            planned = self._format.plan(number, self._finished)
            if planned is None:
                return tables or None
            tables += planned
        return tables

    def _block(self, number: int, rounds: range, tables: list[Table]) -> Block:
        there = self._store.keys(rounds)
        waves = []
        for rotation in range(self._rotations):
            # The last wave of a block and the first of the next deal different cards.
            epoch = number * (self._rotations - 1) + rotation
            plans = tuple(
                MatchPlan(
                    table.round,
                    table.match,
                    table.seating,
                    rotation,
                    tuple(self._retired[bot] for bot in table.seating if bot in self._retired),
                )
                for table in tables
                if DealKey(table.round, table.match, rotation) not in there
            )
            waves.append((epoch, plans))
        missing = sum(len(matches) for _, matches in waves)
        return Block(number, rounds, tuple(waves), len(tables) * self._rotations - missing)

    def _retire(self, rounds: range) -> None:
        for number, entrant, kind in self._store.faulted_throughout(rounds):
            self._retired.setdefault(entrant, Retired(entrant, cast("FaultKind", kind), number))

    def _result(self, number: int) -> RoundResult:
        points: dict[int, float] = {}
        places: dict[int, list[int]] = {}
        for record in self._store.records(range(number, number + 1)):
            for entrant, point, place in zip(
                record.seating, record.points, record.places, strict=True
            ):
                points[entrant] = points.get(entrant, 0.0) + point
                places.setdefault(entrant, []).append(place)
        return RoundResult(
            round=number,
            points=points,
            places={entrant: sum(all_) / len(all_) for entrant, all_ in places.items()},
        )
