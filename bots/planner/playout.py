"""Tien Len in outline, to be played to its end in some 100 microseconds.

A hand is split into combinations once and for all. Everybody lays the lowest of his combinations
that will do, and leads the lowest of all. Cards are numbers, 4 x rank + suit, from 0 for the
three of spades to 51 for the two of hearts.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["DOUBLE", "SEQUENCE", "Hand", "Trick", "place_reached", "split"]

SEQUENCE = 10
DOUBLE = 30
LOWEST_TWO = 48

Hand = dict[int, list[int]]
"""The top cards, lowest first, of each kind of combination. Kinds: 1 to 4 for that many cards of a
rank, `SEQUENCE` + length, `DOUBLE` + length."""


class Trick(NamedTuple):
    """The play to beat; kind 0 is an empty table."""

    kind: int
    top: int
    owner: int
    """The seat that laid it."""


def split(cards: Iterable[int]) -> Hand:
    """Combinations that use each card once: few, but not always the fewest."""
    ranks: list[list[int]] = [[] for _ in range(13)]
    for card in sorted(cards):
        ranks[card >> 2].append(card)
    hand: Hand = {1: []}
    twos = ranks.pop()
    _take_fours(ranks, hand)
    _take_doubles(ranks, hand)
    _take_sequences(ranks, hand)
    for held in ranks:
        if held:
            hand.setdefault(len(held), []).append(held[-1])
    hand[1] += twos  # they win more tricks one by one
    return hand


def _take_fours(ranks: list[list[int]], hand: Hand) -> None:
    for held in ranks:
        if len(held) == 4:
            hand.setdefault(4, []).append(held[-1])
            held.clear()


def _take_doubles(ranks: list[list[int]], hand: Hand) -> None:
    start = 0
    while start < 10:
        end = _end_of_run(ranks, start, 2)
        if end - start >= 3:
            hand.setdefault(DOUBLE + 2 * (end - start), []).append(ranks[end - 1][-1])
            for held in ranks[start:end]:
                del held[-2:]
        start = end + 1


def _take_sequences(ranks: list[list[int]], hand: Hand) -> None:
    """Take sequences that use up singles, and at their ends break no pairs."""
    start = 0
    while start < 10:
        end = _end_of_run(ranks, start, 1)
        first, last = start, end
        while last - first > 3 and len(ranks[first]) > 1:
            first += 1
        while last - first > 3 and len(ranks[last - 1]) > 1:
            last -= 1
        run = ranks[first:last]
        if len(run) >= 3 and 2 * sum(len(held) == 1 for held in run) >= len(run):
            hand.setdefault(SEQUENCE + len(run), []).append(run[-1].pop())
            for held in run[:-1]:
                del held[0]
        else:
            start = end + 1


def _end_of_run(ranks: list[list[int]], start: int, width: int) -> int:
    """The first rank from `start` on of which fewer than `width` cards are held."""
    while start < len(ranks) and len(ranks[start]) >= width:
        start += 1
    return start


def place_reached(
    seat: int, place: int, hands: Sequence[Hand], trick: Trick, passed: Iterable[int]
) -> int:
    """The place that a seat reaches if all play on from here.

    Args:
        seat: The one that has just laid or passed; it still holds cards.
        place: The best place that can still be reached.
        hands: By seat; those who are out hold nothing.
        trick: What lies on the table.
        passed: The seats that may not play again in this trick.
    """
    return _Playout(seat, hands, trick, passed).place(seat, place)


class _Playout:
    def __init__(
        self, turn: int, hands: Sequence[Hand], trick: Trick, passed: Iterable[int]
    ) -> None:
        self.turn = turn
        self.hands = [{kind: tops[:] for kind, tops in hand.items()} for hand in hands]
        self.left = [sum(map(len, hand.values())) for hand in hands]
        self.kind, self.top, self.owner = trick
        self.passed = set(passed)

    def place(self, seat: int, place: int) -> int:
        left = self.left
        playing = len(left) - left.count(0)
        while playing > 1:
            self._next()
            turn = self.turn
            if self._follow(self.hands[turn]) if self.kind else self._lead(self.hands[turn]):
                self.owner = turn
                left[turn] -= 1
                if not left[turn]:
                    if turn == seat:
                        break
                    place += 1
                    playing -= 1
            else:
                self.passed.add(turn)
        return place

    def _next(self) -> None:
        """Find the next seat to act; without one the trick is over."""
        left, passed, owner = self.left, self.passed, self.owner
        players = len(left)
        for seat in range(self.turn + 1, self.turn + players):
            seat %= players  # noqa: PLW2901 - clockwise round the table
            if left[seat] and seat != owner and seat not in passed:
                self.turn = seat
                return
        self.kind = 0
        passed.clear()
        while not left[owner]:
            owner = (owner + 1) % players
        self.turn = owner

    def _lead(self, hand: Hand) -> bool:
        """Lay the lowest combination; of the last two the higher, to lead the other after it."""
        held = [kind for kind, tops in hand.items() if tops]
        if self.left[self.turn] == 2:
            self.kind = max(held, key=lambda kind: hand[kind][-1])
            self.top = hand[self.kind].pop()
        else:
            self.kind = min(held, key=lambda kind: hand[kind][0] - kind)
            self.top = hand[self.kind].pop(0)
        return True

    def _follow(self, hand: Hand) -> bool:
        tops = hand.get(self.kind)
        if tops:
            at = bisect_right(tops, self.top)
            if at < len(tops):
                self.top = tops.pop(at)
                return True
        return self.kind == 1 and self.top >= LOWEST_TWO and self._bomb(hand)

    def _bomb(self, hand: Hand) -> bool:
        for kind, tops in hand.items():
            if tops and (kind == 4 or kind > DOUBLE):
                self.kind, self.top = kind, tops.pop(0)
                return True
        return False
