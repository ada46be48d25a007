"""Speahx: weigh every answer by the hand that it leaves.

What a hand is worth was learned: many deals were played, and the weights below are the straight
lines that best explain, by least squares, from what was left after a move in which place the
player ended. While the reserve lasts nobody can go out and a hand says little; so there are early
and late weights, and the reserve that is left decides how much of each is used.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_bot import Answer, Turn

__all__ = ["choose"]

EARLY_RESERVE = 8
"""So many cards in the reserve for each player, or more, and the deal has hardly begun."""


class Features(NamedTuple):
    """The features of a position after a move; as weights, the places that each is worth."""

    cards: float
    crowd: float
    """A tenth of the square of the number of cards."""
    ranks: float
    chains: float
    """About how many leads it takes to lay all cards."""
    suits: float
    wild: float
    """Jokers, or the jacks in their place."""
    tens: float
    twos: float
    fresh: float
    """The hand is empty and will be filled from the reserve."""
    again: float
    """A ten was laid: the same player moves again."""
    four: float
    """Four of a kind were removed."""
    taken: float
    """The pile was taken."""
    chance: float
    """A chance card will be drawn."""


class Weights(NamedTuple):
    """The weights when the reserve is gone, and when the deal has just begun."""

    late: Features
    early: Features


WEIGHTS = {
    "when_empty": Weights(
        late=Features(
            cards=-0.047,
            crowd=0.006,
            ranks=0.000,
            chains=-0.164,
            suits=0.045,
            wild=0.203,
            tens=0.209,
            twos=-0.021,
            fresh=-0.255,
            again=0.302,
            four=-0.081,
            taken=-0.019,
            chance=-0.252,
        ),
        early=Features(
            cards=-0.017,
            crowd=-0.001,
            ranks=0.038,
            chains=0.000,
            suits=0.028,
            wild=0.045,
            tens=-0.043,
            twos=0.016,
            fresh=0.042,
            again=-0.177,
            four=0.190,
            taken=0.002,
            chance=0.064,
        ),
    ),
    "each_turn": Weights(
        late=Features(
            cards=-0.000,
            crowd=0.003,
            ranks=-0.112,
            chains=0.002,
            suits=0.041,
            wild=0.049,
            tens=-0.051,
            twos=0.029,
            fresh=0.000,
            again=0.199,
            four=-0.201,
            taken=0.035,
            chance=-0.197,
        ),
        early=Features(
            cards=0.546,
            crowd=-0.467,
            ranks=0.116,
            chains=0.009,
            suits=0.140,
            wild=0.713,
            tens=0.585,
            twos=0.284,
            fresh=0.000,
            again=-0.347,
            four=-0.006,
            taken=-0.398,
            chance=0.324,
        ),
    ),
}
"""By the rule that says when hands are filled from the reserve, `refill`."""


def choose(turn: Turn) -> Answer:
    """The best of the legal answers; the first one where several are as good."""
    position = Position(turn.view, turn.rules)
    return max(turn.legal, key=position.value)


class Position:
    """The facts by which answers are judged.

    Args:
        view: The position as the bot knows it.
        rules: Every rule in force.
    """

    def __init__(self, view: dict[str, Any], rules: dict[str, Any]) -> None:
        self.wild = "JK" if rules["jokers"] else "J"
        self.pile = [card[:2] for card in view["pile"]]
        self.hand: list[str] = list(view["hand"])
        if rules["chance_commits"]:  # else they are counted in the hand
            self.hand += view.get("drawn", ())
        self.last_hand = not view["reserve"]
        weights = WEIGHTS[rules["refill"]]
        early = min(1.0, view["reserve"] / (EARLY_RESERVE * len(view["hand_sizes"])))
        self.weights = [
            late + early * (soon - late)
            for late, soon in zip(weights.late, weights.early, strict=True)
        ]

    def value(self, answer: Answer) -> float:
        """In which place it will end, as far as that can be told: the higher the better."""
        play: list[str] = answer.get("play", [])
        rest = list(self.hand)
        for card in play:
            rest.remove(card)
        if self.last_hand and not rest:
            return float("inf")
        taken, chance = "pass" in answer, "chance" in answer
        again = bool(play) and play[-1][0] == "T"
        top = (self.pile + play)[-4:]
        four = bool(play) and len(top) == 4 and len({card[0] for card in top}) == 1
        found = self._features(rest + self.pile if taken else rest)
        found += (again, four and not again, taken, chance)
        return sum(weight * value for weight, value in zip(self.weights, found, strict=True))

    def _features(self, hand: Sequence[str]) -> tuple[float, ...]:
        """Those of the hand, in their order."""
        size = len(hand)
        plain = [card for card in hand if not card.startswith(self.wild)]
        ranks = Counter(card[0] for card in hand)
        suits = {card[1] for card in hand}
        return (
            size,
            size * size / 10,
            len(ranks),
            chains(plain),
            len(suits),
            size - len(plain),
            ranks["T"],
            ranks["2"],
            not hand,
        )


def chains(cards: Sequence[str]) -> int:
    """About how many leads lay all these cards, each with all that share its suit or rank."""
    count = 0
    while cards:
        ranks = Counter(card[0] for card in cards)
        suits = Counter(card[1] for card in cards)
        first = max(cards, key=lambda card: ranks[card[0]] + suits[card[1]])
        cards = [card for card in cards if card[0] != first[0] and card[1] != first[1]]
        count += 1
    return count
