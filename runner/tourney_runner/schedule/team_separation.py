"""Rounds in which members of the same team never share a table.

The circle of `orbits` does not take teams into account, so these rounds are built table by table.
The entrants stand in a line with each team together, and a table takes entrants at least as far
apart as the size of the largest team. This is possible whenever a solution exists. Then entrants
trade places within a seat, which keeps every entrant in every seat once, if that levels the
meetings.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import below, draw, permutation
from tourney_runner.schedule.round_history import pair_seating

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.schedule.base import Seating

__all__ = ["ApartRounds"]

_TRADES = 6
"""Trades tried for each place at a table; more would change the meetings by less than one."""


class ApartRounds:
    """Rounds of n matches with each entrant in each seat once and teams kept apart.

    Args:
        teams: A number for each entrant, equal for members of the same team only.
        seats: Seats at a table.
        seed: The master seed.
        by_pair: Whether at tables of two each of a pair begins as often as the other, which takes
            precedence over the balance of seats; false in version 1 of the rules.

    Raises:
        UsageError: A team is so large that two of its members must meet.
    """

    def __init__(
        self, teams: Sequence[int], seats: int, seed: int, *, by_pair: bool = True
    ) -> None:
        self.matches = len(teams)
        self._teams = teams
        self._seats = seats
        self._by_pair = by_pair and seats == 2
        self._seed = seed
        self._largest = max(Counter(teams).values())
        if self._largest * seats > len(teams):
            raise UsageError(
                f"a team of {self._largest} among {len(teams)} entrants cannot be kept apart at "
                f"tables of {seats}: teams may have at most {len(teams) // seats}"
            )
        self._start_over()

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """Return the matches of a round.

        Going back to an earlier round plans all rounds again from the first.
        """
        if round_number < self._planned:
            self._start_over()
        tables: list[Seating] = []
        while self._planned <= round_number:
            tables = self._next_round()
            self._planned += 1
        return iter(tables)

    def _start_over(self) -> None:
        self._random = draw(self._seed, "apart")
        self._meetings = [[0] * len(self._teams) for _ in self._teams]
        self._began: Counter[tuple[int, int]] = Counter()
        self._sat: Counter[tuple[int, int]] = Counter()
        self._planned = 0

    def _next_round(self) -> list[Seating]:
        tables = self._first_tables()
        for table in tables:
            self._count(table, 1)
        for match in range(len(tables)):
            for seat in range(self._seats):
                for _ in range(_TRADES):
                    self._trade(tables, seat, match, below(len(tables), self._random))
        drawn = permutation(tables, self._random)
        return [self._seated(table) for table in drawn]

    def _seated(self, table: list[int]) -> Seating:
        if not self._by_pair:
            return tuple(table)
        seating = pair_seating(table, self._began, self._sat, self._random)
        self._began[seating] += 1
        self._sat.update((entrant, seat) for seat, entrant in enumerate(seating))
        return seating

    def _first_tables(self) -> list[list[int]]:
        line = self._line()
        positions = permutation(self._spread_positions(), self._random)
        size = len(line)
        return [[line[(place + shift) % size] for place in positions] for shift in range(size)]

    def _line(self) -> list[int]:
        """Return all entrants with teams side by side, in random order of teams and members."""
        members: dict[int, list[int]] = {}
        for entrant, team in enumerate(self._teams):
            members.setdefault(team, []).append(entrant)
        drawn = permutation(list(members.values()), self._random)
        return [entrant for group in drawn for entrant in permutation(group, self._random)]

    def _spread_positions(self) -> list[int]:
        """Return a position for each seat, with no gap shorter than the largest team."""
        spare = len(self._teams) - self._largest * self._seats
        cuts = sorted(below(spare + 1, self._random) for _ in range(self._seats))
        return [cut + self._largest * seat for seat, cut in enumerate(cuts)]

    def _count(self, table: Sequence[int], by: int) -> None:
        for index, one in enumerate(table):
            for other in table[:index]:
                self._meetings[one][other] += by
                self._meetings[other][one] += by

    def _trade(self, tables: list[list[int]], seat: int, here: int, there: int) -> None:
        """Exchange the entrants of a seat at two tables if that is allowed and levels meetings."""
        one, other = tables[here][seat], tables[there][seat]
        if one == other:
            return
        company = [entrant for entrant in tables[here] if entrant != one]
        elsewhere = [entrant for entrant in tables[there] if entrant != other]
        if not (self._welcome(other, company) and self._welcome(one, elsewhere)):
            return
        if self._gain(one, other, company) + self._gain(other, one, elsewhere) <= 0:
            return
        for moving, left, joined in ((one, company, elsewhere), (other, elsewhere, company)):
            self._meet(moving, left, -1)
            self._meet(moving, joined, 1)
        tables[here][seat], tables[there][seat] = other, one

    def _welcome(self, entrant: int, company: list[int]) -> bool:
        """Return whether the company excludes the entrant and all other members of its team."""
        team = self._teams[entrant]
        return all(self._teams[other] != team for other in company)

    def _gain(self, leaving: int, coming: int, company: list[int]) -> int:
        """Return half the decrease of the sum of squared meetings if one replaces another."""
        old, new = self._meetings[leaving], self._meetings[coming]
        return sum(old[other] - 1 - new[other] for other in company)

    def _meet(self, entrant: int, company: list[int], by: int) -> None:
        for other in company:
            self._meetings[entrant][other] += by
            self._meetings[other][entrant] += by
