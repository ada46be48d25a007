"""A ladder: matches for the entrants with the fewest matches, against others of similar strength.

The tables of a round are hosted by the entrants with the fewest matches, newcomers first. About
half of the guests have the nearest ratings, and the others are those that the host has met least.
Without the latter the field splits into groups that hardly meet, and whose ratings cannot be
compared. Ratings are fitted to all rounds at once, and fitted again at fixed rounds, so that they
depend on the results alone. Bots that join late, such as a new version of a bot, need no rounds of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field as Option

from tourney_runner.ratings.model import Model
from tourney_runner.ratings.order_free import fit
from tourney_runner.schedule.base import (
    Field,
    Format,
    FormatOptions,
    RoundResult,
    Table,
    draw,
    permutation,
)
from tourney_runner.schedule.pairing import check_teams
from tourney_runner.schedule.round_history import Followed, History, seated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Ladder", "LadderOptions"]

_REMATCH = 0.1
"""Cost of a previous meeting, as a difference of strength in betas."""
_DIGITS = 2
"""Decimals of the ratings used for pairing. Finer differences are not significant, and the last
digits of a fit may differ between machines.
"""
_REFIT = 4
"""Ratings are fitted again when the number of rounds has grown by 1/4 since the last fit, which
limits the time spent on fits.
"""


class LadderOptions(FormatOptions):
    """The options of ``format: ladder``."""

    rounds: int = Option(default=100, ge=1, le=100_000)
    """The number of rounds."""
    tables: int | None = Option(default=None, ge=1)
    """Tables a round; by default half of what the field would fill."""
    tau: float = Option(default=25 / 300, gt=0, le=25)
    """No longer used for pairing: only tournaments that began with an earlier version go by it."""


class _Past:
    """The finished rounds, and the ratings after them."""

    def __init__(self, entrants: int) -> None:
        self.history = History()
        self._entrants = entrants
        self._orders: list[list[list[int]]] = []
        """Each round's tables, in the form that `order_free.Evidence` takes."""
        self._ratings: tuple[int, list[float]] = 0, [0.0] * entrants

    def add(self, result: RoundResult) -> None:
        """Add a round."""
        self.history.add(result)
        self._orders.append([_finish(table, result) for table in result.tables])

    def ratings(self) -> list[float]:
        """Return the ratings, in betas, as of the last round after which they are fitted."""
        rounds = _last_fit(len(self._orders))
        if self._ratings[0] != rounds:
            rows = [order for tables in self._orders[:rounds] for order in tables]
            model = Model()
            found = fit(model, self._entrants, {len(rows[0]): np.array(rows)}).ratings()
            self._ratings = rounds, [round(one.mu / model.beta, _DIGITS) for one in found]
        return self._ratings[1]


def _finish(table: Sequence[int], result: RoundResult) -> list[int]:
    """Return a table by mean place, bitwise inverted where an entrant ties with the one before."""
    order = sorted(table, key=lambda entrant: (result.places[entrant], entrant))
    return [
        ~entrant if at and result.places[order[at - 1]] == result.places[entrant] else entrant
        for at, entrant in enumerate(order)
    ]


def _last_fit(rounds: int) -> int:
    """Return the number of rounds after which the ratings were last fitted."""
    last = 0
    while (following := last + max(1, last // _REFIT)) <= rounds:
        last = following
    return last


class Ladder(Format[LadderOptions]):
    """A ladder, paired by need and by strength."""

    name: ClassVar[str] = "ladder"
    shows_rounds: ClassVar[bool] = True
    summary: ClassVar[str] = "matches for those with the fewest, mostly against equals"
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
        self._past = Followed(lambda: _Past(field.entrants))

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of tables in a round, which play one match each."""
        return self._tables

    def ahead(self) -> bool:
        """Return False: the next tables depend on the ratings."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of a round by the ratings so far; None after the last round."""
        if round_number >= self.chosen.rounds:
            return None
        random = draw(self.field.seed, "ladder", round_number)
        past = self._past.after(finished[:round_number])
        free = permutation(self._present, random)
        free.sort(key=lambda entrant: past.history.matches[entrant])
        ratings = past.ratings()
        tables: list[list[int]] = []
        while len(tables) < self._tables:
            table = self._table(free, past, ratings, turn=round_number + len(tables))
            if not table:
                break
            tables.append(table)
            free = [entrant for entrant in free if entrant not in table]
        return iter(seated(round_number, tables, 1, past.history, random))

    def _table(self, free: list[int], past: _Past, ratings: list[float], *, turn: int) -> list[int]:
        """Return the first free entrant that finds enough guests, with them; empty if none does."""
        # Half of the guests are strangers; an odd guest is alternately a stranger and a neighbour.
        strangers = (self.field.players - 1 + turn % 2) // 2
        for host in free:
            met = past.history.met[host]
            others = [entrant for entrant in free if entrant != host]

            def distance(guest: int, host: int = host, met: dict[int, int] = met) -> float:
                return abs(ratings[host] - ratings[guest]) + _REMATCH * met.get(guest, 0)

            table = [host]
            self._invite(table, sorted(others, key=lambda guest: met.get(guest, 0)), 1 + strangers)
            self._invite(table, sorted(others, key=distance), self.field.players)
            if len(table) == self.field.players:
                return table
        return []

    def _invite(self, table: list[int], guests: list[int], size: int) -> None:
        """Fill a table up to a size with the first guests that may sit there."""
        for guest in guests:
            if len(table) == size:
                return
            if guest not in table and self._welcome(guest, table):
                table.append(guest)

    def _welcome(self, guest: int, table: list[int]) -> bool:
        teams = self._teams
        return teams is None or all(teams[guest] != teams[entrant] for entrant in table)
