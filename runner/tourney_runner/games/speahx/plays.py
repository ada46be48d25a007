"""The grammar of the game: the ordered lists of cards that are a play.

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
from functools import lru_cache
from typing import TYPE_CHECKING

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

__all__ = ["ALONE", "CHAINS", "ORDERED", "Chain", "Grammar", "grammar_of"]

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
