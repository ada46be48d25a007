"""The full list of legal plays, cut if it gets long.

Chains may be laid in any order, so a long hand has far more plays than a bot could read. Twelve
hearts can be led in more than a thousand million ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.games.speahx.actions import Action
from tourney_runner.games.speahx.cards import ALL_CARDS, JOKER, SAME_RANK, TWO
from tourney_runner.games.speahx.plays import ORDERED, Chain

if TYPE_CHECKING:
    from tourney_runner.games.speahx.plays import Grammar

__all__ = ["MOST_PLAYS", "TOO_MANY", "Cards", "Turn", "actions_of", "all_plays", "without"]

MOST_PLAYS = 1000
"""The maximum length of a list of plays."""

TOO_MANY = f"there are more than {MOST_PLAYS} plays; the longest are left out"

Cards = tuple[int, ...]

_TWOS = SAME_RANK[TWO << 2]
_ONE: tuple[Cards, ...] = tuple([(card,) for card in range(JOKER + 1)])
_PLAY = partial(Action, "play")


class Turn(msgspec.Struct, frozen=True):
    """The cards and rules with which a play is made."""

    top: int
    """The card under the play, or `EMPTY`."""
    chain: Chain
    """The rule for several cards."""
    hand: Sequence[int]
    drawn: Sequence[int] = ()
    """Chance cards, if one of them must be the first card. The other cards then come from the
    hand."""

    def starts(self, grammar: Grammar) -> list[int]:
        """Return each card that may be laid first, without duplicates."""
        fits = grammar.fits[self.top]
        return [card for card in dict.fromkeys(self.drawn or self.hand) if fits >> card & 1]

    def holder(self, first: int) -> Cards:
        """Return the cards available to a play with this first card, in the order of the hand."""
        hand = tuple(self.hand)
        return (first, *hand) if self.drawn else hand


# One loop without calls: for a thousand plays, each call would cost as much as making the play.
def all_plays(  # noqa: C901
    turn: Turn, grammar: Grammar, most: int = MOST_PLAYS
) -> tuple[list[Action], str]:
    """Return all plays, short before long, and in the order of their cards for equal lengths.

    Args:
        turn: The cards and rules with which a play is made.
        grammar: The grammar of the options in force.
        most: The number of plays to cut the list at.

    Returns:
        The plays, and the reason why some are left out; an empty text if none is.
    """
    hand = turn.hand
    brings, closes = grammar.brings_free_card, grammar.closes
    links = {card: turn.chain(card, card, turn.top) for card in {*turn.drawn, *hand}}
    linking = -1 if turn.chain is ORDERED else 0
    has_twins = len(set(hand)) < len(hand)
    # Plays that differ only in their last card are grouped with the cards that it was taken from
    # and whether it is a free card. The remaining cards are computed only for plays that are made
    # longer, as most plays of a long list are its longest.
    level: list[tuple[Cards, list[Cards], int]] = [
        (turn.holder(card), [_ONE[card]], 0) for card in turn.starts(grammar)
    ]
    actions: list[Action] = []
    while level:
        for _, plays, _ in level:
            actions += actions_of(plays)
        room = most - len(actions)
        if room < 0:
            return actions[:most], TOO_MANY
        longer: list[tuple[Cards, list[Cards], int]] = []
        for source, plays, is_free in level:
            for cards in plays:
                last = cards[-1]
                if brings >> last & 1:
                    following = ALL_CARDS
                elif is_free:
                    continue
                else:
                    following = links[cards[linking]]
                    if closes >> last & 1:
                        following &= SAME_RANK[last]
                rest = without(source, last)
                choice = dict.fromkeys(rest) if has_twins else rest
                more = [cards + _ONE[card] for card in choice if following >> card & 1]
                if more:
                    longer.append((rest, more, brings >> last & 1))
                    room -= len(more)
                    if room < 0:
                        break
            if room < 0:
                break
        level = longer
    return actions, ""


def actions_of(plays: list[Cards]) -> list[Action]:
    """Return the actions that lay these cards: four for a play that ends in a two (S22)."""
    actions = [*map(_PLAY, plays)]
    with_call = [place for place, cards in enumerate(plays) if _TWOS >> cards[-1] & 1]
    if not with_call:
        return actions
    called: list[Action] = []
    done = 0
    for place in with_call:
        called += actions[done:place]
        called += [Action("play", plays[place], suit) for suit in range(4)]
        done = place + 1
    return called + actions[done:]


def without(cards: Cards, card: int) -> Cards:
    """Return the cards without one card of that number, which must be present."""
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]
