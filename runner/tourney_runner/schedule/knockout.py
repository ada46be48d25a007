"""Tables whose best go on, until one table decides.

The field is seeded: the best seeds have byes where the field does not fill its tables, and
seeds are dealt over the tables there and back, so that the strong meet late. The upper half of
each table goes on. Where fewer would be left than a table seats, the best of the others fill
up, so that the last table is always full; its order is the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field as Option

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import Field, Format, FormatOptions, RoundResult, Table
from tourney_runner.schedule.round_history import Followed, History, seated
from tourney_runner.schedule.seeded_random import draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Knockout", "KnockoutOptions"]


class KnockoutOptions(FormatOptions):
    """The options of ``format: knockout``."""

    games: int = Option(default=5, ge=1, le=1000)
    """Matches that a table plays before its best go on."""
    seeding: Literal["drawn", "listed"] = "drawn"
    """Seeds by lot, or in the order in which the bots are listed, the best first."""


class Knockout(Format[KnockoutOptions]):
    """Rounds of a seeded bracket."""

    name: ClassVar[str] = "knockout"
    summary: ClassVar[str] = "the better half of each table goes on, until one table is left"
    options: ClassVar[type[KnockoutOptions]] = KnockoutOptions
    last_table_decides: ClassVar[bool] = True

    def __init__(self, field: Field, options: KnockoutOptions) -> None:
        super().__init__(field, options)
        if field.numbered_teams():
            raise UsageError("a knockout cannot keep teams apart: its last table may hold two")
        self._staying = field.players // 2
        self._sizes = self._round_sizes()
        self._history = Followed(History)

    def rounds(self) -> int:
        """As many as it takes to come down to one table, and that one."""
        return len(self._sizes)

    def matches(self, round_number: int) -> int:
        """As many games as configured at each table."""
        return self._sizes[round_number] // self.field.players * self.chosen.games

    def ahead(self) -> bool:
        """Never: who goes on depends on the results."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """The tables of those still in; None after the last table."""
        if round_number >= len(self._sizes):
            return None
        alive = self._seeds()
        for result in finished[:round_number]:
            alive = self._survivors(alive, result)
        tables = _dealt(self._playing(alive), self.field.players)
        random = draw(self.field.seed, "knockout", round_number)
        history = self._history.after(finished[:round_number])
        return iter(seated(round_number, tables, self.chosen.games, history, random))

    def _seeds(self) -> list[int]:
        listed = range(self.field.entrants)
        if self.chosen.seeding == "listed":
            return list(listed)
        return permutation(listed, draw(self.field.seed, "seeds"))

    def _round_sizes(self) -> list[int]:
        """How many are in at the start of each round."""
        alive, sizes = self.field.entrants, []
        while alive > self.field.players:
            sizes.append(alive)
            alive = self._left(alive)
        return [*sizes, alive]

    def _left(self, alive: int) -> int:
        going = alive // self.field.players * (self.field.players - self._staying)
        return max(alive - going, self.field.players)

    def _playing(self, alive: list[int]) -> list[int]:
        """Those without a bye."""
        return alive[len(alive) % self.field.players :]

    def _survivors(self, alive: list[int], result: RoundResult) -> list[int]:
        """Who goes on, in the order of seeds."""
        seed = {entrant: number for number, entrant in enumerate(alive)}

        def merit(entrant: int) -> tuple[float, float, int]:
            return -result.points[entrant], result.places[entrant], seed[entrant]

        playing = self._playing(alive)
        staying = set(alive) - set(playing)
        for table in _dealt(playing, self.field.players):
            staying.update(sorted(table, key=merit)[: self._staying])
        others = sorted((e for e in playing if e not in staying), key=merit)
        staying.update(others[: self._left(len(alive)) - len(staying)])
        return [entrant for entrant in alive if entrant in staying]


def _dealt(seeds: list[int], players: int) -> list[list[int]]:
    """Seeds dealt over full tables, there and back: 1 4 5 8 and 2 3 6 7."""
    count = len(seeds) // players
    tables: list[list[int]] = [[] for _ in range(count)]
    for number, entrant in enumerate(seeds):
        turn, place = divmod(number, count)
        tables[place if turn % 2 == 0 else count - 1 - place].append(entrant)
    return tables
