"""Matches for those whose rating is least certain, against others of about the same strength.

Each round rates the field by the results so far. Its tables are hosted by the entrants with the
largest sigma, newcomers first of all; guests are those with the nearest ratings. Ratings drift
a little (`tau`), so that nobody is ever certain for good and everybody is asked again. Who joins
in the middle (a new version of a bot, say) needs no rounds of his own for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field as Option

from tourney_runner.ratings.model import Model
from tourney_runner.ratings.sequential import rate
from tourney_runner.schedule.base import Field, Format, FormatOptions, RoundResult, Table
from tourney_runner.schedule.pairing import check_teams
from tourney_runner.schedule.round_history import Followed, History, pair, seated
from tourney_runner.schedule.seeded_random import draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.ratings.model import Rating

__all__ = ["Ladder", "LadderOptions"]

_REMATCH = 0.1
"""A meeting costs as much as so many betas of difference."""


class LadderOptions(FormatOptions):
    """The options of ``format: ladder``."""

    rounds: int = Option(default=100, ge=1, le=100_000)
    """How many rounds are played."""
    tables: int | None = Option(default=None, ge=1)
    """Tables a round; by default half of what the field would fill."""
    tau: float = Option(default=25 / 300, gt=0, le=25)
    """By how much a rating may have drifted between two matches, in units of the rating."""


class _Past:
    """The rounds so far, and the ratings after them."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self.history = History()
        self.ratings: list[Rating] = [model.start] * entrants

    def add(self, result: RoundResult) -> None:
        """Count and rate a round."""
        self.history.add(result)
        for table in result.tables:
            means = [result.places[entrant] for entrant in table]
            order = sorted(set(means))
            places = [order.index(mean) + 1 for mean in means]
            after = rate(self._model, [self.ratings[entrant] for entrant in table], places)
            for entrant, rating in zip(table, after, strict=True):
                self.ratings[entrant] = rating


class Ladder(Format[LadderOptions]):
    """Pairing by the uncertainty of ratings."""

    name: ClassVar[str] = "ladder"
    summary: ClassVar[str] = "matches for the least certain ratings, against bots of like strength"
    options: ClassVar[type[LadderOptions]] = LadderOptions
    staged: ClassVar[bool] = True
    open_to_newcomers: ClassVar[bool] = True
    seeks_newcomers: ClassVar[bool] = True

    def __init__(self, field: Field, options: LadderOptions) -> None:
        super().__init__(field, options)
        self._present = field.present()
        filled = len(self._present) // field.players
        self._tables = min(options.tables or max(1, filled // 2), filled)
        self._teams = field.numbered_teams()
        check_teams([self._teams[one] for one in self._present] if self._teams else None, filled)
        self._model = Model(tau=options.tau)
        self._past = Followed(lambda: _Past(self._model, field.entrants))

    def rounds(self) -> int:
        """As many as configured."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """The tables of a round, a match each."""
        return self._tables

    def ahead(self) -> bool:
        """Never: the next tables depend on the ratings."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """The tables of a round by the ratings after the rounds before; None after the last."""
        if round_number >= self.chosen.rounds:
            return None
        random = draw(self.field.seed, "ladder", round_number)
        past = self._past.after(finished[:round_number])
        free = permutation(self._present, random)
        free.sort(key=lambda entrant: (-past.ratings[entrant].sigma, past.history.matches[entrant]))
        tables: list[list[int]] = []
        while len(tables) < self._tables and (table := self._table(free, past)):
            tables.append(table)
            free = [entrant for entrant in free if entrant not in table]
        return iter(seated(round_number, tables, 1, past.history, random))

    def _table(self, free: list[int], past: _Past) -> list[int]:
        """The first of the free who finds enough guests, with the guests; empty if none does."""
        for host in free:

            def distance(guest: int, host: int = host) -> float:
                apart = abs(past.ratings[host].mu - past.ratings[guest].mu) / self._model.beta
                return apart + _REMATCH * past.history.meetings[pair(host, guest)]

            table = [host]
            for guest in sorted((entrant for entrant in free if entrant != host), key=distance):
                if self._welcome(guest, table):
                    table.append(guest)
                if len(table) == self.field.players:
                    return table
        return []

    def _welcome(self, guest: int, table: list[int]) -> bool:
        teams = self._teams
        return teams is None or all(teams[guest] != teams[entrant] for entrant in table)
