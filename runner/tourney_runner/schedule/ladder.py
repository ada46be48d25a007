"""Matches for those who have played least, against others of about the same strength.

The tables of a round are hosted by the entrants with the fewest matches, newcomers first of all.
Their guests are some with the nearest ratings, and some strangers, whom the host has met least:
without these the field falls into groups that hardly meet, and whose ratings say nothing about
each other. Ratings are fitted to all rounds at once, anew at fixed rounds, so that they depend on
the results alone. Bots that join late (a new version of a bot, say) need no rounds of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field as Option

from tourney_runner.ratings.model import Model
from tourney_runner.ratings.order_free import fit
from tourney_runner.schedule.base import Field, Format, FormatOptions, RoundResult, Table
from tourney_runner.schedule.pairing import check_teams
from tourney_runner.schedule.round_history import Followed, History, seated
from tourney_runner.schedule.seeded_random import draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Ladder", "LadderOptions"]

_REMATCH = 0.1
"""A meeting costs as much as this many betas of difference."""
_DIGITS = 2
"""Decimals of the ratings that pairings go by: finer differences mean nothing, and the last digits
of a fit may differ between machines."""
_REFIT = 4
"""Ratings are fitted again when this part of all rounds is new: then fits take little time."""


class LadderOptions(FormatOptions):
    """The options of ``format: ladder``."""

    rounds: int = Option(default=100, ge=1, le=100_000)
    """How many rounds are played."""
    tables: int | None = Option(default=None, ge=1)
    """Tables a round; by default half of what the field would fill."""
    tau: float = Option(default=25 / 300, gt=0, le=25)
    """No longer used for pairing: only tournaments that began with an earlier version go by it."""


class _Past:
    """The rounds so far, and the ratings after them."""

    def __init__(self, entrants: int) -> None:
        self.history = History()
        self._entrants = entrants
        self._orders: list[list[list[int]]] = []
        """Each round's tables, as `order_free.Evidence` takes them."""
        self._ratings: tuple[int, list[float]] = 0, [0.0] * entrants

    def add(self, result: RoundResult) -> None:
        """Count a round."""
        self.history.add(result)
        self._orders.append([_finish(table, result) for table in result.tables])

    def ratings(self) -> list[float]:
        """Return the ratings, in betas, after the last round after which they are fitted."""
        rounds = _last_fit(len(self._orders))
        if self._ratings[0] != rounds:
            rows = [order for tables in self._orders[:rounds] for order in tables]
            model = Model()
            found = fit(model, self._entrants, {len(rows[0]): np.array(rows)}).ratings()
            self._ratings = rounds, [round(one.mu / model.beta, _DIGITS) for one in found]
        return self._ratings[1]


def _finish(table: Sequence[int], result: RoundResult) -> list[int]:
    """Return a table by mean place; the bitwise inverse of each who tied with the one before."""
    order = sorted(table, key=lambda entrant: (result.places[entrant], entrant))
    return [
        ~entrant if at and result.places[order[at - 1]] == result.places[entrant] else entrant
        for at, entrant in enumerate(order)
    ]


def _last_fit(rounds: int) -> int:
    """Return after which of some rounds the ratings were fitted last."""
    last = 0
    while (following := last + max(1, last // _REFIT)) <= rounds:
        last = following
    return last


class Ladder(Format[LadderOptions]):
    """Pairing by need and by strength."""

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
        """Return the first of the free who finds enough guests, with them; empty if none does."""
        # Half of the guests; at a table with an odd one left, now a stranger and now a neighbour.
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
