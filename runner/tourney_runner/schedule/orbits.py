"""Base blocks on a circle, from which balanced round robins are built.

The n entrants stand on a circle, Z_n. A *base block* names a position for each of the k seats.
Shifted by 0, 1, ... n - 1 it gives n matches in which every entrant sits in every seat exactly
once. The number of meetings of two entrants depends only on the distance between them, so n
counters describe the whole state of the schedule. Every block is chosen to level them:

* *meetings*: the positions that make up the block (least sum of squares of the counters);
* *succession*: the order in which they sit, so that each entrant plays after each other equally
  often. At tables of two this decides the first seat: each of a pair begins as often as the other.

The search improves a random block place by place. It does not always find the least cost, but the
next block corrects the imbalance that is left.
"""

from __future__ import annotations

from itertools import pairwise, permutations
from math import factorial
from typing import TYPE_CHECKING, ClassVar

from tourney_runner.schedule.base import Draw, choice, draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.schedule.base import Seating

__all__ = ["CircularRounds", "OrbitRounds", "Orbits", "carried_round"]


_STARTS = 3
"""Random blocks that are improved before the best is taken. With one, tables of 14 have a spread of
4 meetings; ten are no better than three.
"""


def carried_round(block: Seating, size: int) -> Iterator[Seating]:
    """Yield the matches of a base block: the block shifted by 0, 1, 2, ... round the circle."""
    for shift in range(size):
        yield tuple([(position + shift) % size for position in block])


class OrbitRounds:
    """Rounds of n matches, one base block each.

    Chosen base blocks are kept, k numbers a round. Planning a round requires the earlier ones, at
    0.05 to 10 ms each; 1.5 ms for 200 entrants at tables of four.

    Args:
        size: The number of entrants.
        seats: Seats at a table.
        seed: The master seed.
        by_pair: See `Orbits`.
    """

    def __init__(self, size: int, seats: int, seed: int, *, by_pair: bool = True) -> None:
        self.matches = size
        self._orbits = Orbits(size, seats, draw(seed, "blocks"), by_pair=by_pair)
        self._blocks: list[Seating] = []

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """Return the matches of a round, lazily."""
        while len(self._blocks) <= round_number:
            self._blocks.append(self._orbits.next_block())
        return carried_round(self._blocks[round_number], self.matches)


class Orbits:
    """A generator of base blocks.

    Args:
        size: Positions on the circle, at least as many as seats.
        seats: Seats at a table.
        random: The source of tie-breaks.
        by_pair: Whether each of a pair begins as often as the other; false in version 1 of the
            rules.
    """

    def __init__(self, size: int, seats: int, random: Draw, *, by_pair: bool = True) -> None:
        self._size = size
        self._seats = seats
        self._random = random
        # For k > n/2 the positions left out are chosen instead. Their differences are level exactly
        # when those of the block are, and there are fewer of them.
        self._chosen = min(seats, size - seats)
        self._meetings = [0] * size
        """The number of ordered pairs of chosen positions at each distance."""
        self._by_pair = by_pair and seats == 2
        self._begun = [0] * size
        """At tables of two: how often the second entrant was at each distance from the first."""
        self._successions = [0] * size
        """The number of times that consecutive seats were at each distance."""

    def next_block(self) -> Seating:
        """Return the next base block, positions by seat."""
        chosen = min((self._level_subset() for _ in range(_STARTS)), key=self._unevenness)
        self._count_meetings(chosen, 1)
        if self._chosen < self._seats:
            left_out = set(chosen)
            chosen = [p for p in range(self._size) if p not in left_out]
        return self.arrange(chosen)

    def arrange(self, positions: list[int]) -> Seating:
        """Return the positions in the order that levels succession, and count it."""
        order = permutation(positions, self._random)
        if self._by_pair:
            return self._arrange_pair(*order)
        cost = self._succession_cost(order)
        improved = True
        while improved:
            improved = False
            for one in range(len(order)):
                for other in range(one):
                    order[one], order[other] = order[other], order[one]
                    changed = self._succession_cost(order)
                    if changed < cost:
                        cost, improved = changed, True
                    else:
                        order[one], order[other] = order[other], order[one]
        self.seat(tuple(order))
        return tuple(order)

    def _arrange_pair(self, one: int, two: int) -> Seating:
        ahead, back = (two - one) % self._size, (one - two) % self._size
        if self._begun[ahead] > self._begun[back]:
            one, two, ahead = two, one, back
        self._begun[ahead] += 1
        return one, two

    def seat(self, block: Seating) -> None:
        """Count the successions of a block that was chosen elsewhere."""
        for step in self._steps(block):
            self._successions[step] += 1

    def succession_cost(self, block: Seating) -> int:
        """Return how uneven succession becomes with this block, for comparing blocks only."""
        return self._succession_cost(list(block))

    def _level_subset(self) -> list[int]:
        """Return positions whose distances are used least; leave the counters unchanged."""
        members: list[int] = []
        for _ in range(self._chosen):
            self._add(members, self._costs(members))
        unchanged = 0
        while unchanged < len(members):
            position = members.pop(0)
            self._count_distances(position, members, -1)
            costs = self._costs(members)
            if min(costs) < costs[position]:
                self._add(members, costs)
                unchanged = 0
            else:
                self._count_distances(position, members, 1)
                members.append(position)
                unchanged += 1
        self._count_meetings(members, -1)
        return members

    def _add(self, members: list[int], costs: list[float]) -> None:
        least = min(costs)
        position = choice([p for p, cost in enumerate(costs) if cost == least], self._random)
        self._count_distances(position, members, 1)
        members.append(position)

    def _costs(self, members: list[int]) -> list[float]:
        """Return a quarter of what each position adds to the sum of squares, up to a constant.

        A distance that occurs twice costs one more: the position is in the middle of two members,
        or opposite one (then the pair itself counts in both directions).
        """
        size = self._size
        costs = [0.0] * size
        for index, member in enumerate(members):
            turned = self._meetings[size - member :] + self._meetings[: size - member]
            costs = [cost + meetings for cost, meetings in zip(costs, turned, strict=True)]
            if size % 2 == 0:
                costs[(member + size // 2) % size] += 0.5
            for middle in self._middles(member, members[:index]):
                costs[middle] += 1
        for member in members:
            costs[member] = float("inf")
        return costs

    def _middles(self, member: int, others: list[int]) -> Iterator[int]:
        size = self._size
        for other in others:
            total = member + other
            if size % 2:
                yield total * (size + 1) // 2 % size
            elif total % 2 == 0:
                yield total // 2 % size
                yield (total + size) // 2 % size

    def _count_distances(self, position: int, members: list[int], by: int) -> None:
        meetings, size = self._meetings, self._size
        for member in members:
            meetings[(position - member) % size] += by
            meetings[(member - position) % size] += by

    def _count_meetings(self, members: list[int], by: int) -> None:
        for index, member in enumerate(members):
            self._count_distances(member, members[:index], by)

    def _unevenness(self, members: list[int]) -> int:
        self._count_meetings(members, 1)
        total = sum(count * count for count in self._meetings)
        self._count_meetings(members, -1)
        return total

    def _steps(self, order: Seating) -> list[int]:
        around = (order[-1], *order)
        return [(after - before) % self._size for before, after in pairwise(around)]

    def _succession_cost(self, order: list[int]) -> int:
        successions, cost = self._successions, 0
        steps = self._steps(tuple(order))
        for step in steps:
            cost += 2 * successions[step] + 1
            successions[step] += 1
        for step in steps:
            successions[step] -= 1
        return cost


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
