"""A Swiss tournament: entrants play against others with about the same score.

Each round sorts the field by points and seats entrants with about the same score together, with as
few rematches as possible (see `pairing`). If the field is not a multiple of the table, the bots
that have sat out least, from the bottom of the ranking, sit out. Bots that have left are not
paired.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field as Option

from tourney_runner.schedule.base import (
    Field,
    Format,
    FormatOptions,
    RoundResult,
    Table,
    draw,
    permutation,
)
from tourney_runner.schedule.pairing import check_teams, score_tables
from tourney_runner.schedule.round_history import Followed, History, seated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Swiss", "SwissOptions"]


class SwissOptions(FormatOptions):
    """The options of ``format: swiss``."""

    rounds: int = Option(default=9, ge=1, le=10_000)
    """The number of rounds."""
    games: int = Option(default=3, ge=1, le=1000)
    """Matches that each table plays in a round; more make the score of a round less a matter of
    luck."""


class Swiss(Format[SwissOptions]):
    """A Swiss tournament, paired by score."""

    name: ClassVar[str] = "swiss"
    shows_rounds: ClassVar[bool] = True
    summary: ClassVar[str] = "every round against others with about the same score"
    options: ClassVar[type[SwissOptions]] = SwissOptions
    on_leaving: ClassVar[str] = "rounds that have not begun are paired without it"

    def __init__(self, field: Field, options: SwissOptions) -> None:
        super().__init__(field, options)
        self._tables = field.entrants // field.players
        self._teams = field.numbered_teams()
        check_teams(self._teams, self._tables)
        self._history = Followed(History)

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of tables times the configured number of games."""
        return self._tables * self.chosen.games

    def ahead(self) -> bool:
        """Return False: the next tables depend on the scores."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of a round by the scores so far; None after the last round."""
        if round_number >= self.chosen.rounds:
            return None
        gone = finished[round_number - 1].gone if round_number else frozenset()
        there = [entrant for entrant in range(self.field.entrants) if entrant not in gone]
        if len(there) < self.field.players:
            return None
        random = draw(self.field.seed, "swiss", round_number)
        history = self._history.after(finished[:round_number])
        ranking = history.ranking(permutation(there, random))
        playing = self._playing(ranking, history)
        levels = self._levels(playing, history)
        tables = score_tables(levels, self.field.players, history.met, self._teams, random)
        return iter(seated(round_number, tables, self.chosen.games, history, random))

    def _playing(self, ranking: list[int], history: History) -> list[int]:
        """Return the ranking without the entrants that sit out."""
        out = len(ranking) % self.field.players
        from_bottom = ranking[::-1]
        from_bottom.sort(key=lambda entrant: -history.rounds[entrant])
        resting = set(from_bottom[:out])
        return [entrant for entrant in ranking if entrant not in resting]

    def _levels(self, ranking: list[int], history: History) -> dict[int, float]:
        """Return the place of each entrant in tables from the top, shared by equal scores."""
        levels: dict[int, float] = {}
        first = 0
        for _, group in groupby(ranking, key=history.merit):
            equal = list(group)
            middle = first + (len(equal) - 1) / 2
            levels |= dict.fromkeys(equal, middle / self.field.players)
            first += len(equal)
        return levels
