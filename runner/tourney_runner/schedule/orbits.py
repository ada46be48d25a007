"""Base blocks on a circle: the balanced core of a round robin.

The n entrants stand on a circle, Z_n. A *base block* names a position for each of the k seats;
carried round, shifted by 0, 1, ... n - 1, it gives n matches in which every entrant sits in
every seat exactly once. How often two entrants meet depends on the distance between them alone,
so n counters tell the whole state of the schedule. Every block is chosen to level them:

* *meetings*: which positions make up the block (sum of squares of the counters, least);
* *succession*: in which order they sit, so that everybody plays after everybody else alike. At
  tables of two that is who begins: each of a pair as often as the other.

The least cost is looked for by improving a drawn block place by place. That is not always the
best there is, but the next block makes good what this one left uneven.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tourney_runner.schedule.seeded_random import Draw, choice, draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.schedule.base import Seating

__all__ = ["OrbitRounds", "Orbits", "carried_round"]

_STARTS = 3
"""Drawn blocks that are improved before the best is taken: one leaves tables of 14 at a spread
of 4 meetings, ten are no better than three."""


def carried_round(block: Seating, size: int) -> Iterator[Seating]:
    """The matches of a base block: itself, shifted by one, by two, ... all round the circle."""
    for shift in range(size):
        yield tuple([(position + shift) % size for position in block])


class OrbitRounds:
    """Rounds of n matches, one base block each.

    Base blocks are kept once chosen, k numbers a round. A late round needs those before it:
    0.05 to 10 ms each, 1.5 ms for 200 entrants at tables of four.

    Args:
        size: Entrants.
        seats: Seats at a table.
        seed: The master seed.
        by_pair: See `Orbits`.
    """

    def __init__(self, size: int, seats: int, seed: int, *, by_pair: bool = True) -> None:
        self.matches = size
        self._orbits = Orbits(size, seats, draw(seed, "blocks"), by_pair=by_pair)
        self._blocks: list[Seating] = []

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """The matches of a round, lazily."""
        while len(self._blocks) <= round_number:
            self._blocks.append(self._orbits.next_block())
        return carried_round(self._blocks[round_number], self.matches)


class Orbits:
    """Chooses base blocks one after the other.

    Args:
        size: Positions on the circle, at least as many as seats.
        seats: Seats at a table.
        random: Where ties are broken.
        by_pair: Whether each of a pair begins as often as the other; not so in version 1 of the
            rules.
    """

    def __init__(self, size: int, seats: int, random: Draw, *, by_pair: bool = True) -> None:
        self._size = size
        self._seats = seats
        self._random = random
        # For k > n/2 the positions left out are chosen: their differences are level exactly
        # when those of the block are, and they are fewer.
        self._chosen = min(seats, size - seats)
        self._meetings = [0] * size
        """By distance: ordered pairs of positions chosen so far that lie so far apart."""
        self._by_pair = by_pair and seats == 2
        self._begun = [0] * size
        """By distance, at tables of two: how often the second sat so far from the first."""
        self._successions = [0] * size
        """By distance: how often one seat's position was so far from the seat's before it."""

    def next_block(self) -> Seating:
        """The next base block, positions by seat."""
        chosen = min((self._level_subset() for _ in range(_STARTS)), key=self._unevenness)
        self._count_meetings(chosen, 1)
        if self._chosen < self._seats:
            left_out = set(chosen)
            chosen = [p for p in range(self._size) if p not in left_out]
        return self.arrange(chosen)

    def arrange(self, positions: list[int]) -> Seating:
        """Put positions into the order that levels succession, and count it."""
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
        """How uneven succession gets with this block; only good for comparing blocks."""
        return self._succession_cost(list(block))

    def _level_subset(self) -> list[int]:
        """Positions whose distances are those least used; leaves the counters as they were."""
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
        """What each position would add to the sum of squares, less what all add, over 4.

        A distance that occurs twice costs one more: x lies in the middle of two members, or
        opposite one (then the pair itself counts in both directions).
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
