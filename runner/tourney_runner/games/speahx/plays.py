"""The grammar of the game: the ordered lists of cards that are a play, and the list of all of them.

A play begins with a card that goes on the pile's top card, or with any card on an empty pile. It is
read card by card, and the cards so far determine which may come next:

- after a joker, or a jack in a game without jokers (R31, R32): any one card, the *free card*;
- after a free card: nothing, unless it brings a free card itself (S28);
- otherwise, the cards of the *chain*, the rule for laying several cards (S6, S9);
- after a two or a ten: only more of that rank, as far as the chain allows them (S11).

So every beginning of a play is also a play, and the list of plays can be grown from it. Sets of
cards are bit masks over the numbers of `games.speahx.cards`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.games.speahx.actions import Action
from tourney_runner.games.speahx.cards import (
    ALL_CARDS,
    EMPTY,
    JACK,
    JOKER,
    NAMES,
    PRINTED,
    SAME_RANK,
    SAME_RANK_OR_SUIT,
    TEN,
    TWO,
)

if TYPE_CHECKING:
    from tourney_runner.games.speahx.options import SpeahxOptions

__all__ = [
    "ALONE",
    "CHAINS",
    "MOST_PLAYS",
    "ORDERED",
    "TOO_MANY",
    "Cards",
    "Chain",
    "Grammar",
    "Turn",
    "actions_of",
    "all_plays",
    "grammar_of",
    "without",
]


Chain = Callable[[int, int, int], int]
"""Map (first card of the play, last card so far, top card of the pile) to cards that may follow.

No chain contains a joker, which may only be the first card of a play or a free card (S32).
"""


def _first_suit_or_rank(first: int, _last: int, _top: int) -> int:
    return SAME_RANK_OR_SUIT[first]


def _previous_suit_or_rank(_first: int, last: int, _top: int) -> int:
    return SAME_RANK_OR_SUIT[last]


def _same_rank(first: int, _last: int, _top: int) -> int:
    return SAME_RANK[first]


def _identical(first: int, _last: int, top: int) -> int:
    return 1 << first if first == PRINTED[top] else 0


def ALONE(_first: int, _last: int, _top: int) -> int:  # noqa: N802 - a constant of type Chain
    """Return no cards: the chain of a chance card (S17) and of the option ``single``."""
    return 0


CHAINS: dict[str, Chain] = {
    "first_suit_or_rank": _first_suit_or_rank,
    "previous_suit_or_rank": _previous_suit_or_rank,
    "same_rank": _same_rank,
    "identical": _identical,
    "single": ALONE,
}
"""The chains by their names in `SpeahxOptions`."""

ORDERED = CHAINS["previous_suit_or_rank"]
"""The only chain in which the order of the cards decides what may come next."""

_TWOS = SAME_RANK[TWO << 2]
_TENS = SAME_RANK[TEN << 2]
_JACKS = SAME_RANK[JACK << 2]


class Grammar:
    """The grammar for one set of options."""

    def __init__(self, options: SpeahxOptions) -> None:
        self.lead: Chain = CHAINS[options.lead_chain]
        self.follow: Chain = CHAINS[options.follow_multi]
        self.brings_free_card: int = 1 << JOKER if options.jokers else _JACKS
        """Cards after which a free card may be laid, and on which any card may be laid (R33)."""
        self.wild: int = (
            1 << JOKER
            | (_TWOS if options.two_wild else 0)
            | (_TENS if options.ten_wild else 0)
            | (_JACKS if options.jack_wild and not options.jokers else 0)
        )
        """Cards that may be laid on any card, as the first of a play."""
        self.closes: int = self.brings_free_card | _TWOS | _TENS
        """Cards that end a chain (S11)."""
        self.fits: tuple[int, ...] = tuple(map(self._cards_on, [*range(len(NAMES)), EMPTY]))
        """The cards that may be first in a play, by top card (or `EMPTY`)."""

    def _cards_on(self, top: int) -> int:
        if top == EMPTY or (self.brings_free_card | 1 << JOKER) >> top & 1:
            return ALL_CARDS
        return SAME_RANK_OR_SUIT[top] | self.wild

    def after(self, cards: Sequence[int], chain: Chain, top: int) -> int:
        """Return the cards that may be laid next in the same play.

        Args:
            cards: The play so far, at least one card.
            chain: The rule for several cards that applies to this play.
            top: The card under the play, or `EMPTY`.
        """
        last = cards[-1]
        if self.brings_free_card >> last & 1:
            return ALL_CARDS
        if len(cards) > 1 and self.brings_free_card >> cards[-2] & 1:
            return 0
        following = chain(cards[0], last, top)
        return following & SAME_RANK[last] if self.closes >> last & 1 else following

    def first_error(self, cards: Sequence[int], chain: Chain, top: int) -> int | None:
        """Return the index of the first card that may not be laid there, or None."""
        if not self.fits[top] >> cards[0] & 1:
            return 0
        for index in range(1, len(cards)):
            if not self.after(cards[:index], chain, top) >> cards[index] & 1:
                return index
        return None


@lru_cache(maxsize=64)
def grammar_of(options: SpeahxOptions) -> Grammar:
    """Return the grammar for these options, cached because its tables cost as much as ten moves."""
    return Grammar(options)


MOST_PLAYS = 1000
"""The maximum length of a list of plays."""

TOO_MANY = f"there are more than {MOST_PLAYS} plays; the longest are left out"

Cards = tuple[int, ...]

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
def all_plays(  # noqa: C901, PLR0912
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
    brings, closes = grammar.brings_free_card, grammar.closes
    is_ordered = turn.chain is ORDERED
    has_twins = len(set(turn.hand)) < len(turn.hand)
    # Plays that differ only in their last card are grouped with the cards of the chain that it was
    # taken from; free cards have none. Those cards are much fewer than the hand. The remaining
    # ones are computed only for plays that are made longer, as most plays of a long list are its
    # longest.
    level = [((card, *_linked(turn, card)), [_ONE[card]]) for card in turn.starts(grammar)]
    actions: list[Action] = []
    while level:
        actions += actions_of([*chain.from_iterable([plays for _, plays in level])])
        room = most - len(actions)
        if room < 0:
            return actions[:most], TOO_MANY
        longer: list[tuple[Cards, list[Cards]]] = []
        for source, plays in level:
            for cards in plays:
                last = cards[-1]
                rest: Cards = ()
                if brings >> last & 1:
                    choice = turn.holder(cards[0])
                    for card in cards:
                        choice = without(choice, card)
                elif not source:
                    continue
                else:
                    choice = rest = without(source, last)
                    following = SAME_RANK_OR_SUIT[last] if is_ordered else ALL_CARDS
                    if closes >> last & 1:
                        following &= SAME_RANK[last]
                    if following != ALL_CARDS:
                        choice = tuple([card for card in choice if following >> card & 1])
                if choice:
                    more = [
                        cards + _ONE[card]
                        for card in (dict.fromkeys(choice) if has_twins else choice)
                    ]
                    longer.append((rest, more))
                    room -= len(more)
                    if room < 0:
                        break
            if room < 0:
                break
        level = longer
    return actions, ""


def _linked(turn: Turn, first: int) -> Cards:
    """Return the cards that the chain allows at some place after this first card."""
    rest = without(turn.holder(first), first)
    if turn.chain is ORDERED:
        return rest
    following = turn.chain(first, first, turn.top)
    return tuple([card for card in rest if following >> card & 1])


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
