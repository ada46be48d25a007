"""Rounds of all circular orders, for a field that fills exactly one table.

A round has each of the (k - 1)! orders round the table in each of its k rotations, k! matches: the
base blocks of Z_k that seat position 0 first, each carried round the circle. Every k consecutive
matches seat every entrant in every seat once.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, ClassVar

from tourney_runner.schedule.orbits import Orbits, carried_round
from tourney_runner.schedule.seeded_random import draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.schedule.base import Seating

__all__ = ["CircularRounds"]


class CircularRounds:
    """Rounds of k! matches for a field that fills one table.

    Args:
        size: The number of entrants, equal to the number of seats; at most `MOST`.
        seed: The master seed.
    """

    MOST: ClassVar[int] = 5
    """The largest supported field, with 120 matches in a round; six players would need 720."""

    def __init__(self, size: int, seed: int) -> None:
        self.matches = factorial(size)
        self._size = size
        self._seed = seed

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """Yield all seatings once, starting with the orders that level succession."""
        random = draw(self._seed, "circles", round_number)
        orbits = Orbits(self._size, self._size, random)
        others = permutations(range(1, self._size))
        left = permutation([(0, *order) for order in others], random)
        while left:
            block = min(left, key=orbits.succession_cost)
            left.remove(block)
            orbits.seat(block)
            yield from carried_round(block, self._size)
