"""The full list of the plays that a player may choose from.

Chains may be laid in any order, so a long hand has far more plays than anybody wants to read:
twelve hearts can be led in more than a thousand million ways. Hence the list is cut; the short
list of `games.speahx.canonical` is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.games.speahx.actions import Action
from tourney_runner.games.speahx.cards import RANK, TWO
from tourney_runner.games.speahx.plays import Chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.games.speahx.plays import Grammar

__all__ = ["MOST_PLAYS", "Cards", "Turn", "all_plays", "with_calls", "without"]

MOST_PLAYS = 1000
"""Longer lists of plays are cut here."""

Cards = tuple[int, ...]


class Turn(msgspec.Struct, frozen=True):
    """The cards and rules that a play is made with."""

    top: int
    """The card under the play, or `EMPTY`."""
    chain: Chain
    """The rule for several cards."""
    hand: Sequence[int]
    drawn: Sequence[int] = ()
    """Chance cards, if one of them must be the first card; the others then come from the hand."""

    def starts(self, grammar: Grammar) -> Iterator[tuple[int, Cards]]:
        """Each card that may be first, once, with the cards that may then come after it."""
        hand = tuple(self.hand)
        for card in dict.fromkeys(self.drawn or hand):
            if grammar.fits[self.top] >> card & 1:
                yield card, hand if self.drawn else without(hand, card)


def all_plays(turn: Turn, grammar: Grammar, most: int = MOST_PLAYS) -> tuple[list[Action], bool]:
    """All plays: short before long, those of one length in the order of their cards.

    Returns:
        At most `most` plays, and whether these are all.
    """
    plays: list[Action] = []
    queue: deque[tuple[Cards, Cards]] = deque(
        ((card,), rest) for card, rest in turn.starts(grammar)
    )
    while queue:
        cards, rest = queue.popleft()
        plays.extend(with_calls(cards))
        if len(plays) > most:
            return plays[:most], False
        # Every play in the queue will be listed: beyond `most` there is no need to look further.
        if len(plays) + len(queue) <= most:
            following = grammar.after(cards, turn.chain, turn.top)
            queue.extend(
                ((*cards, card), without(rest, card))
                for card in dict.fromkeys(rest)
                if following >> card & 1
            )
    return plays, True


def without(cards: Cards, card: int) -> Cards:
    """The cards less one card of that number, which must be there."""
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]


def with_calls(cards: Cards) -> list[Action]:
    """The actions that lay these cards: four if a suit must be called, else one (S22)."""
    if RANK[cards[-1]] == TWO:
        return [Action("play", cards, suit) for suit in range(4)]
    return [Action("play", cards)]
