"""A knockout bracket: the better half of each table goes on until one table decides.

The field is seeded. If it is not a power of two times the table, the best seeds have a bye in the
first round, and only there. From then on tables are full and the bracket is fixed: the survivors of
two neighbouring tables make up a table of the next round, and the best seeds meet last.

If players are level across the line that divides a table, the table plays a round of its own, up to
`TIE_BREAKS` times. The results of these tie-breaks order only the players that are level. If they
still are, the better seed goes on. In the final the line is below the first place, which is then
shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from pydantic import Field as Option

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import (
    Field,
    Format,
    FormatOptions,
    RoundResult,
    Table,
    draw,
    permutation,
)
from tourney_runner.schedule.round_history import Followed, History, seated
from tourney_runner.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["TIE_BREAKS", "Knockout", "KnockoutOptions", "merit"]

TIE_BREAKS = 3
"""Maximum number of extra rounds that a tied table plays."""


class KnockoutOptions(FormatOptions):
    """The options of ``format: knockout``."""

    games: int = Option(default=5, ge=1, le=1000)
    """Matches that a table plays before its best go on."""
    seeding: Literal["drawn", "listed"] = "drawn"
    """Seeds by lot, or in the order in which the bots are listed, the best first."""


class _Stage(NamedTuple):
    """One step of the bracket: the tables of one round and of its tie-breaks."""

    tables: list[list[int]]
    """The members of each table."""
    going: list[int]
    """The number of players that go on from each table; in the final, the position of the line for
    ties.
    """
    byes: tuple[int, ...] = ()
    """Entrants that go on without playing, in the first round only."""
    first: bool = False
    """Whether this stage only reduces the field until all tables are full."""

    @property
    def final(self) -> bool:
        """Whether the order of this stage is the result."""
        return len(self.tables) == 1 and not self.first


class Knockout(Format[KnockoutOptions]):
    """A seeded knockout bracket."""

    name: ClassVar[str] = "knockout"
    shows_rounds: ClassVar[bool] = True
    summary: ClassVar[str] = "the better half of each table goes on, until one table is left"
    options: ClassVar[type[KnockoutOptions]] = KnockoutOptions
    on_leaving: ClassVar[str] = (
        "a round that has begun stands; after it, the next at its table goes on in its place"
    )
    last_table_decides: ClassVar[bool] = True

    def __init__(self, field: Field, options: KnockoutOptions) -> None:
        super().__init__(field, options)
        if field.numbered_teams():
            raise UsageError("a knockout cannot keep teams apart: its last table may hold two")
        seeds: list[int] = list(range(field.entrants))
        if options.seeding == "drawn":
            seeds = permutation(seeds, draw(field.seed, "seeds"))
        self._seeds = seeds
        self._seed_of = {entrant: seed for seed, entrant in enumerate(seeds)}
        self._history = Followed(History)

    def rounds(self) -> int | None:
        """Return None: the number of tie-breaks depends on the results."""
        return None

    def matches(self, round_number: int) -> int | None:  # noqa: ARG002 - the interface's
        """Return None: a round may be a tie-break."""
        return None

    def ahead(self) -> bool:
        """Return False: the survivors depend on the results."""
        return False

    def length(self) -> str:
        """Describe the number of rounds and matches without tie-breaks."""
        first = self._first_stage()
        tables = [len(first.tables)]
        if first.first:
            tables.append(self._slots() // self.field.players)
        while tables[-1] > 1:
            tables.append(tables[-1] // 2)
        matches = counted(sum(tables) * self.chosen.games, "match", "matches")
        return (
            f"{counted(len(tables), 'round')}, {matches}; a tied table plays on for up to"
            f" {counted(TIE_BREAKS, 'match', 'matches')}"
        )

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of the entrants still in, or those that are tied; None after the final.

        Raises:
            UsageError: Too many bots have left to fill the tables.
        """
        stage, results, _ = self._bracket(finished[:round_number])
        if stage is None:
            return None
        tables = self._tied(stage, results) if results else stage.tables
        games = 1 if results else self.chosen.games
        random = draw(self.field.seed, "knockout", round_number)
        history = self._history.after(finished[:round_number])
        return iter(seated(round_number, tables, games, history, random))

    def remarks(self, finished: Sequence[RoundResult]) -> list[str]:
        """Return a line for each tie that more deals did not break."""
        return self._bracket(finished)[2]

    def _bracket(
        self, finished: Sequence[RoundResult]
    ) -> tuple[_Stage | None, list[RoundResult], list[str]]:
        """Return the stage after some rounds, its rounds so far, and the remarks on all.

        The stage is None when the final is decided.
        """
        stage = self._first_stage()
        results: list[RoundResult] = []
        remarks: list[str] = []
        for result in finished:
            results.append(result)
            if self._tied(stage, results):
                continue
            remarks += self._unbroken(stage, results)
            if stage.final:
                return None, results, remarks
            stage, results = self._next(stage, results), []
        return stage, results, remarks

    def _slots(self) -> int:
        """Return the number of entrants once tables are full: a power of two times the table."""
        slots = self.field.players
        while 2 * slots <= self.field.entrants:
            slots *= 2
        return slots

    def _first_stage(self) -> _Stage:
        """Return the first round: all tables of the bracket, or those that reduce the field."""
        entrants, players = self.field.entrants, self.field.players
        leaving = entrants - self._slots()
        if not leaving:
            return self._full_stage(self._seeds)
        tables = min(entrants // players, -(-leaving // (players - players // 2)))
        fewest, more = divmod(leaving, tables)
        # If the numbers are uneven, more players go on from the tables with the better seeds.
        going = [players - fewest - (table >= tables - more) for table in range(tables)]
        byes = entrants - tables * players
        dealt = _dealt(self._seeds[byes:], tables)
        return _Stage(dealt, going, tuple(self._seeds[:byes]), first=True)

    def _full_stage(self, slots: list[int]) -> _Stage:
        """Return the first round in which every table is full, from entrants ordered by slot."""
        order = [0]
        count = len(slots) // self.field.players
        while len(order) < count:
            last = 2 * len(order) - 1
            order = [table for better in order for table in (better, last - better)]
        dealt = _dealt(slots, count)
        return self._stage([dealt[table] for table in order])

    def _stage(self, tables: list[list[int]]) -> _Stage:
        """Return a stage of full tables; each two neighbours make up a table of the next stage."""
        if len(tables) == 1:
            return _Stage(tables, [1])
        half = self.field.players // 2
        upper = self.field.players - half  # at odd tables, one more on the better seed's side
        return _Stage(tables, [half if at % 2 else upper for at in range(len(tables))])

    def _next(self, stage: _Stage, results: list[RoundResult]) -> _Stage:
        """Return the stage after one that is decided."""
        on, byes = self._going_on(stage, results)
        if not stage.first:
            pairs = zip(on[::2], on[1::2], strict=True)
            return self._stage([self._by_seed([*one, *other]) for one, other in pairs])
        # The players that go on from a table take the slots of its best seeds.
        slots = dict(zip((self._seed_of[one] for one in stage.byes), byes, strict=True))
        for members, table in zip(stage.tables, on, strict=True):
            seeds = sorted(self._seed_of[one] for one in members)
            slots |= zip(seeds, self._by_seed(table), strict=False)
        return self._full_stage([slots[seed] for seed in sorted(slots)])

    def _going_on(
        self, stage: _Stage, results: list[RoundResult]
    ) -> tuple[list[list[int]], list[int]]:
        """Return the players that go on from each table, and those that go on from a bye.

        Players that have left are passed over. If a table has too few others, its places go to the
        best of the eliminated players, by place and then by seed.
        """
        orders = [self._order(table, results) for table in stage.tables]
        on = [order[:going] for order, going in zip(orders, stage.going, strict=True)]
        out = {
            one: (place, self._seed_of[one])
            for order, going in zip(orders, stage.going, strict=True)
            for place, one in enumerate(order)
            if place >= going
        }
        waiting = sorted(out, key=out.__getitem__, reverse=True)

        def substitute() -> int:
            if not waiting:
                raise UsageError(
                    "too many bots have left this knockout to fill its tables;"
                    " take back a withdrawal (--undo), or leave it as it is"
                )
            return waiting.pop()

        for table, going in zip(on, stage.going, strict=True):
            while len(table) < going:
                table.append(substitute())
        gone = results[-1].gone
        return on, [substitute() if one in gone else one for one in stage.byes]

    def _order(self, table: Sequence[int], results: Sequence[RoundResult]) -> list[int]:
        """Return the remaining players of a table, the best first; equal players by seed."""
        there = [one for one in table if one not in results[-1].gone]
        return sorted(there, key=lambda one: (merit(one, results), self._seed_of[one]))

    def _by_seed(self, entrants: Sequence[int]) -> list[int]:
        return sorted(entrants, key=self._seed_of.__getitem__)

    def _tied(self, stage: _Stage, results: list[RoundResult]) -> list[list[int]]:
        """Return the tables that must play on."""
        if len(results) > TIE_BREAKS:
            return []
        gone = results[-1].gone
        return [
            table
            for table, going in zip(stage.tables, stage.going, strict=True)
            if gone.isdisjoint(table) and self._level(table, going, results)
        ]

    def _level(self, table: Sequence[int], going: int, results: Sequence[RoundResult]) -> list[int]:
        """Return the members of a table that are level across its line, by seed."""
        order = self._order(table, results)
        if len(order) <= going:
            return []
        line = merit(order[going - 1], results)
        level = [one for one in order if merit(one, results) == line]
        return level if merit(order[going], results) == line else []

    def _unbroken(self, stage: _Stage, results: Sequence[RoundResult]) -> list[str]:
        """Return a line for each table that is decided by seed."""
        after = counted(len(results) - 1, "more match", "more matches")
        found = []
        for table, going in zip(stage.tables, stage.going, strict=True):
            level = self._level(table, going, results)
            if not level:
                continue
            names = self._names(level)
            best = self._order(table, results)[:going]
            seeded = [one for one in level if one in best]
            if stage.final:
                found.append(f"{names} are level after {after}, and share the first place")
            else:
                go = "goes" if len(seeded) == 1 else "go"
                found.append(
                    f"{names} were level after {after}; by seed, {self._names(seeded)} {go} on"
                )
        return found

    def _names(self, entrants: Sequence[int]) -> str:
        names = self.field.names or [str(one) for one in range(self.field.entrants)]
        return listed([names[one] for one in entrants], "and")


def merit(entrant: int, results: Sequence[RoundResult]) -> tuple[float, ...]:
    """Return the sort key of an entrant at a table: points, then the mean place; the least is best.

    Tie-breaks come after the round itself, so they only order the entrants that are level in it.
    """
    return tuple(
        value
        for result in results
        if entrant in result.points
        for value in (-result.points[entrant], result.places[entrant])
    )


def _dealt(seeds: Sequence[int], count: int) -> list[list[int]]:
    """Return seeds dealt over tables, back and forth: 1 4 5 8 and 2 3 6 7."""
    tables: list[list[int]] = [[] for _ in range(count)]
    for number, entrant in enumerate(seeds):
        turn, place = divmod(number, count)
        tables[place if turn % 2 == 0 else count - 1 - place].append(entrant)
    return tables
