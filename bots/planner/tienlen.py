"""Tien Len: judge every play by the hand that it leaves, then try the best ones out.

The judgement splits the hand that is left into as few and as good combinations as it can. The
trials deal the unseen cards to the others at random, a fixed number of times, and play each deal
to its end by the simple policy of `playout`. What counts in the end is the bot's average place
in the trials, with a little of the judgement.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

from playout import DOUBLE, SEQUENCE, Hand, Trick, place_reached, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_bot import Answer, Turn

__all__ = ["choose"]

TRIALS = 12
CANDIDATES = 5

RANKS = "3456789TJQKA2"
SUITS = "SCDH"
NUMBERS = {
    rank + suit: 4 * place + SUITS.index(suit) for place, rank in enumerate(RANKS) for suit in SUITS
}

# What it costs to hold a combination of a rank, in turns: low singles are a burden, twos are
# worth having. These numbers won the most of many deals that were played against each other.
SINGLES = (*(1.1 - 0.6 * rank / 11 for rank in range(12)), -1.0)
PAIRS = (*(1.0 for _ in range(12)), 0.0)
TRIPLES = (*(1.0 - 0.3 * rank / 11 for rank in range(12)), 0.0)
BOMBS = (0.0,) * 13
RUNS = (1.0,) * 13
PASSING = 1.5
POWER = 0.25
"""The weight of the laid cards' worth in favour of laying them, since they may win the trick."""
JUDGEMENT = 0.25
"""Places in the trials that make up for one turn in the judgement."""


def choose(turn: Turn) -> Answer:
    """The best of the legal answers."""
    view = turn.view
    hand = [NUMBERS[card] for card in view["hand"]]
    candidates = [Candidate(answer, hand) for answer in turn.legal]
    for candidate in candidates:
        if not candidate.rest:
            return candidate.answer
    candidates = _shortlist(candidates)
    chance = Random(f"{turn.deal.get('seed')} {view['hand']} {view['table']}")
    Trials(view, hand, chance).run(candidates)
    return max(candidates, key=Candidate.score).answer


class Candidate:
    """An answer, the hand that it leaves, and what is thought of it."""

    def __init__(self, answer: Answer, hand: list[int]) -> None:
        play = {NUMBERS[card] for card in answer.get("play", ())}
        self.answer = answer
        self.rest = [card for card in hand if card not in play]
        self.kind = kind_of(play)
        self.top = max(play, default=0)
        self.places = 0
        """The sum of the places reached in the trials."""
        counts = [0] * 13
        for card in self.rest:
            counts[card >> 2] += 1
        worth = POWER * (1.0 - _costs(self.kind)[self.top >> 2]) if play else -PASSING
        self.value = worth - burden(tuple(counts))

    def score(self) -> float:
        """After the trials: the higher the better."""
        return JUDGEMENT * self.value - self.places / TRIALS


def _shortlist(candidates: list[Candidate]) -> list[Candidate]:
    """The most promising ones, the best first, with passing always among them.

    Plays that differ in suits alone are as good as one: the first, which is the lowest.
    """
    different: dict[tuple[int, int], Candidate] = {}
    for candidate in candidates:
        different.setdefault((candidate.kind, candidate.top >> 2), candidate)
    ranking = sorted(different.values(), key=lambda candidate: -candidate.value)
    return ranking[:CANDIDATES] + [c for c in ranking[CANDIDATES:] if not c.kind]


def kind_of(cards: set[int]) -> int:
    """The kind of a combination, as `playout` numbers them; 0 for no cards."""
    ranks = {card >> 2 for card in cards}
    if len(ranks) <= 1:
        return len(cards)
    return (SEQUENCE if len(ranks) == len(cards) else DOUBLE) + len(cards)


def _costs(kind: int) -> Sequence[float]:
    """The cost of holding a combination of this kind, by the rank of its top card."""
    if kind > DOUBLE:
        return BOMBS
    return RUNS if kind > SEQUENCE else (SINGLES, PAIRS, TRIPLES, BOMBS)[kind - 1]


@lru_cache(maxsize=1 << 16)
def burden(counts: tuple[int, ...]) -> float:
    """About how many turns it takes to get rid of a hand, in the best split that there is.

    Args:
        counts: Cards held of each rank.
    """
    rank = next((rank for rank, held in enumerate(counts) if held), None)
    if rank is None:
        return 0.0
    held = counts[rank]
    costs = [
        _costs(size)[rank] + burden((*counts[:rank], held - size, *counts[rank + 1 :]))
        for size in range(1, held + 1)
    ]
    for width, cost in ((1, RUNS[rank]), (2, BOMBS[rank])):
        left = list(counts)
        for end in range(rank, 12):
            if counts[end] < width:
                break
            left[end] -= width
            if end >= rank + 2:
                costs.append(cost + burden(tuple(left)))
    return min(costs)


class Trials:
    """Deals of the unseen cards, in each of which every candidate is played to the end.

    Args:
        view: The position.
        hand: The bot's own cards.
        chance: Deals the cards.
    """

    def __init__(self, view: dict[str, Any], hand: list[int], chance: Random) -> None:
        self.seat: int = view["seat"]
        self.sizes: list[int] = view["hand_sizes"]
        self.next_place = len(view["out"]) + 1
        self.passed: set[int] = set(view["passed"])
        self.trick = Trick(0, 0, self.seat)
        seen = set(hand)
        if table := view["table"]:
            cards = {NUMBERS[card] for card in table["cards"]}
            self.trick = Trick(kind_of(cards), max(cards), table["by"])
            seen |= cards
        self.unseen = [card for card in range(52) if card not in seen]
        self.chance = chance

    def run(self, candidates: list[Candidate]) -> None:
        """Play all trials; the candidates keep the places that they reach."""
        own = [split(candidate.rest) for candidate in candidates]
        for _ in range(TRIALS):
            hands = self._deal()
            for candidate, hand in zip(candidates, own, strict=True):
                hands[self.seat] = hand
                candidate.places += self._place(candidate, hands)

    def _deal(self) -> list[Hand]:
        """Hands for the others; cards of earlier tricks are not known to be gone."""
        cards = iter(self.chance.sample(self.unseen, len(self.unseen)))
        return [
            {} if seat == self.seat else split(islice(cards, size))
            for seat, size in enumerate(self.sizes)
        ]

    def _place(self, candidate: Candidate, hands: list[Hand]) -> int:
        trick, passed = self.trick, self.passed
        if candidate.kind:
            trick = Trick(candidate.kind, candidate.top, self.seat)
        else:
            passed = passed | {self.seat}
        return place_reached(self.seat, self.next_place, hands, trick, passed)
