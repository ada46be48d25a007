"""Speahx: weigh every answer by the hand that it leaves and by what the next player meets.

A hand is judged by about how many turns it takes to get rid of it. While the reserve lasts that
matters less, since nobody can go out; from the last card of the reserve on it is all that counts.
Tens, twos and jacks are kept for then: they turn a hand that is stuck into one that goes out.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_bot import Answer, Turn

__all__ = ["choose"]

RESERVE_A_PLAYER = 8
"""So many cards in the reserve for each player are as good as endless."""


class Weights(NamedTuple):
    """What a hand costs, in turns. Found by playing many deals with different ones."""

    card: float
    rank: float
    chain: float
    suit: float
    jack: float
    ten: float
    two: float


LATE = Weights(card=1.0, rank=0.6, chain=1.5, suit=-0.5, jack=-1.4, ten=-1.1, two=-0.5)
EARLY = Weights(card=0.3, rank=0.2, chain=0.2, suit=-0.1, jack=-1.5, ten=-1.0, two=0.0)

FRESH_HAND = -3.0
"""The burden of an empty hand that is about to be filled, while the reserve is endless."""
MOVING_AGAIN = 1.0
FOUR_REMOVED = 0.2
PILE_LEFT = 0.1
"""For each card that the next player may have to take."""
KIN_LEFT = 0.4
"""For each card left that goes on the suit which is now asked for."""
CHANCE = -0.5
CHANCE_ON_PILE = 0.4
"""What drawing a chance card is worth, and more for each card of the pile it may save from."""


def choose(turn: Turn) -> Answer:
    """The best of the legal answers; the first one where several are as good."""
    position = Position(turn.view)
    return max(turn.legal, key=position.value)


class Position:
    """What an answer is judged by.

    Args:
        view: The position as the bot knows it.
    """

    def __init__(self, view: dict[str, Any]) -> None:
        self.reserve: int = view["reserve"]
        self.pile = [card[:2] for card in view["pile"]]
        self.hand: list[str] = list(view["hand"])
        self.tables = sum(view.get("table_sizes", ())[view["seat"] : view["seat"] + 1])
        missing = Counter(view.get("drawn", ())) - Counter(self.hand)
        self.hand += missing.elements()
        early = min(1.0, self.reserve / (RESERVE_A_PLAYER * len(view["hand_sizes"])))
        self.fresh = early * FRESH_HAND
        self.weights = Weights(
            *(late + early * (soon - late) for late, soon in zip(LATE, EARLY, strict=True))
        )

    def value(self, answer: Answer) -> float:
        """How good an answer is, in turns."""
        if "play" in answer:
            return self._value_of_play(answer)
        if "chance" in answer:
            return CHANCE + CHANCE_ON_PILE * len(self.pile) - self._burden(self.hand)
        return -self._burden(self.hand + self.pile)

    def _value_of_play(self, answer: Answer) -> float:
        play: list[str] = answer["play"]
        rest = list(self.hand)
        for card in play:
            rest.remove(card)
        if not rest and not self.reserve and not self.tables:
            return 1000.0
        value = -self._burden(rest)
        pile = self.pile + play
        if play[-1][0] == "T":
            return value + MOVING_AGAIN
        if len(pile) > 3 and len({card[0] for card in pile[-4:]}) == 1:
            return value + FOUR_REMOVED
        suit = answer.get("suit", play[-1][1])
        kin = sum(card[1] == suit for card in rest)
        return value + PILE_LEFT * len(pile) + KIN_LEFT * kin

    def _burden(self, hand: Sequence[str]) -> float:
        if not hand:
            return self.fresh
        ranks = Counter(card[0] for card in hand)
        weights = self.weights
        return (
            weights.card * len(hand)
            + weights.rank * len(ranks)
            + weights.chain * chains(hand)
            + weights.suit * len({card[1] for card in hand})
            + weights.jack * (ranks["J"])
            + weights.ten * ranks["T"]
            + weights.two * ranks["2"]
        )


def chains(hand: Sequence[str]) -> int:
    """About how many leads it takes to lay all cards but jacks and jokers."""
    cards = [card for card in hand if card[0] != "J"]
    count = 0
    while cards:
        ranks = Counter(card[0] for card in cards)
        suits = Counter(card[1] for card in cards)
        first = max(cards, key=lambda card: ranks[card[0]] + suits[card[1]])
        cards = [card for card in cards if card[0] != first[0] and card[1] != first[1]]
        count += 1
    return count
