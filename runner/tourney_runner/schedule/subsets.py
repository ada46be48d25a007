"""Every table of k among n once: all subsets, grouped into orbits of the circle Z_n.

A subset of positions is described by the gaps between its members, going round. Rotating the circle
rotates the list of gaps, so the subsets fall into orbits. One subset of each orbit is generated in
a shuffled order, without storing a list: the numbers 0 .. C - 1 are visited in steps of a fixed
size, each is decoded as a subset that contains position 0, and kept if its list of gaps is the
least of its rotations.
"""

from __future__ import annotations

from collections import Counter
from math import comb, gcd
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import Draw, below, draw
from tourney_runner.schedule.orbits import Orbits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.schedule.base import Seating

__all__ = ["SubsetRounds"]


class SubsetRounds:
    """Rounds that play every table once.

    Args:
        size: The number of entrants.
        seats: Seats at a table.
        seed: The master seed.
        teams: A number for each position, equal for members of the same team only. They never meet.
        by_pair: Whether each of a pair begins as often as the other; false in version 1 of the
            rules.

    Raises:
        UsageError: No table could be filled without two members of the same team.
    """

    def __init__(
        self,
        size: int,
        seats: int,
        seed: int,
        teams: Sequence[int] | None = None,
        *,
        by_pair: bool = True,
    ) -> None:
        self._size = size
        self._seats = seats
        self._seed = seed
        self._teams = teams
        self._by_pair = by_pair and seats == 2
        self.matches = comb(size, seats) if teams is None else _tables_apart(teams, seats)
        if not self.matches:
            raise UsageError(f"there are fewer than {seats} teams: no table of {seats} is allowed")

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """Yield every subset once, with the matches of each orbit in a row.

        Whole orbits seat every entrant in every seat once. A subset that maps onto itself when the
        circle is rotated part of the way has a shorter orbit, and teams leave gaps in orbits. In
        these cases each match uses the rotation that seats its members where they have sat least.
        """
        random = draw(self._seed, "subsets")
        orbits = Orbits(self._size, self._seats, random, by_pair=self._by_pair)
        sat: Counter[tuple[int, int]] = Counter()
        for members, length in _representatives(self._size, self._seats, random):
            block = orbits.arrange(members)
            whole = length == self._size and self._teams is None
            for shift in range(length):
                seating = tuple([(position + shift) % self._size for position in block])
                if self._teams is None or _apart(seating, self._teams):
                    if not whole:
                        seating = _fairest_turn(seating, sat)
                    turned = not whole or self._by_pair
                    yield _turned(seating, round_number) if turned else seating


def _turned(seating: Seating, by: int) -> Seating:
    turn = by % len(seating)
    return seating[turn:] + seating[:turn]


def _apart(seating: Seating, teams: Sequence[int]) -> bool:
    return len({teams[position] for position in seating}) == len(seating)


def _tables_apart(teams: Sequence[int], seats: int) -> int:
    """Return the number of subsets without two members of the same team.

    It is the elementary symmetric polynomial of the team sizes.
    """
    ways = [1] + [0] * seats
    for size in Counter(teams).values():
        for taken in range(seats, 0, -1):
            ways[taken] += size * ways[taken - 1]
    return ways[seats]


def _fairest_turn(seating: Seating, sat: Counter[tuple[int, int]]) -> Seating:
    """Return the rotation with the rarest seats; `sat` counts (position, seat) and is updated."""
    turns = [_turned(seating, turn) for turn in range(len(seating))]

    def wear(turn: Seating) -> int:
        return sum(sat[position, seat] ** 2 for seat, position in enumerate(turn))

    fairest = min(turns, key=wear)
    for seat, position in enumerate(fairest):
        sat[position, seat] += 1
    return fairest


def _representatives(size: int, seats: int, random: Draw) -> Iterator[tuple[list[int], int]]:
    """Yield one subset of each orbit and the length of the orbit."""
    number = comb(size - 1, seats - 1)
    step = _coprime_step(number, random)
    index = below(number, random)
    for _ in range(number):
        members = _subset_with_zero(index, size, seats)
        period = _period_if_least(_gaps(members, size))
        if period:
            yield members, size * period // seats
        index = (index + step) % number


def _coprime_step(number: int, random: Draw) -> int:
    """Return a step that visits all numbers below `number`, from a third to two thirds of it."""
    while True:
        step = number // 3 + below(number // 3 + 1, random)
        if gcd(step, number) == 1 or number <= 2:
            return max(step, 1)


def _subset_with_zero(index: int, size: int, seats: int) -> list[int]:
    """Return 0 and the index-th choice, in order, of `seats - 1` positions from 1 to size - 1."""
    members, position, left = [0], 1, seats - 1
    while left:
        starting_here = comb(size - 1 - position, left - 1)
        if index < starting_here:
            members.append(position)
            left -= 1
        else:
            index -= starting_here
        position += 1
    return members


def _gaps(members: list[int], size: int) -> list[int]:
    following = [*members[1:], size]
    return [after - before for before, after in zip(members, following, strict=True)]


def _period_if_least(gaps: list[int]) -> int:
    """Return the period of a list of gaps if it is the least of its rotations, else 0."""
    for turn in range(1, len(gaps)):
        turned = gaps[turn:] + gaps[:turn]
        if turned < gaps:
            return 0
        if turned == gaps:
            return turn
    return len(gaps)
