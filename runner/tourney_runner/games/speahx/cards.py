"""Cards as small integers, and tables of their properties.

A card is ``rank * 4 + suit``, ranks from the two up (R5), suits S < C < D < H; so 0 is 2S, 51 is
AH, and sorting integers sorts cards. The joker is 52. Identical cards of several decks have the
same number, so zones are lists that may contain a number more than once.

A two on the pile whose player called a suit (R26) has a number of its own above those, so that a
pile is a plain list of integers and its top card alone determines what may follow.
"""

from __future__ import annotations

__all__ = [
    "ALL_CARDS",
    "EMPTY",
    "JACK",
    "JOKER",
    "LAID_NAMES",
    "NAMES",
    "NUMBERS",
    "PRINTED",
    "RANK",
    "RANKS",
    "RANK_OF_JOKER",
    "SAME_RANK",
    "SAME_RANK_OR_SUIT",
    "SUIT",
    "SUITS",
    "SUIT_WORDS",
    "TEN",
    "TWO",
    "called",
    "pack",
]

RANKS = "23456789TJQKA"
SUITS = "SCDH"
SUIT_WORDS = dict(zip(SUITS, ("spades", "clubs", "diamonds", "hearts"), strict=True))
TWO, TEN, JACK = RANKS.index("2"), RANKS.index("T"), RANKS.index("J")
RANK_OF_JOKER = len(RANKS)
"""The rank of jokers, which no other card has (S27)."""

JOKER = 52
_FIRST_CALLED = JOKER + 1
EMPTY = _FIRST_CALLED + 16
"""The top card of an empty pile. The tables have a row for it."""

ALL_CARDS = (1 << _FIRST_CALLED) - 1
"""The set of all cards. Sets of cards are bit masks."""

NAMES: tuple[str, ...] = (
    *(rank + suit for rank in RANKS for suit in SUITS),
    "JK",
    *(f"2{printed}>{call}" for printed in SUITS for call in SUITS),
)
"""Names: ``7H``, ``JK``, and ``2S>H`` for a laid two with its call."""

NUMBERS: dict[str, int] = {name: card for card, name in enumerate(NAMES[:_FIRST_CALLED])}
"""The number of every card that a hand can hold."""

LAID_NAMES: dict[str, int] = {name: card for card, name in enumerate(NAMES)}
"""The number of every card that can lie on the pile, including twos with a call."""

PRINTED: tuple[int, ...] = (
    *range(_FIRST_CALLED),
    *(printed for printed in range(4) for _ in range(4)),
    EMPTY,
)
"""The card as it is printed, without a call."""

RANK: tuple[int, ...] = tuple(
    RANK_OF_JOKER if card in (JOKER, EMPTY) else card >> 2 for card in PRINTED
)

SUIT: tuple[int, ...] = (*(card & 3 for card in range(JOKER)), -1, *range(4), *range(4), *range(4),
                         *range(4), -1)  # fmt: skip
"""The suit that counts: the suit called for a two with a call (S22); -1 for none."""


def _mask_of(cards: list[int]) -> int:
    return sum(1 << card for card in cards)


SAME_RANK: tuple[int, ...] = tuple(
    _mask_of([card for card in range(JOKER) if RANK[card] == rank]) for rank in RANK
)
SAME_RANK_OR_SUIT: tuple[int, ...] = tuple(
    _mask_of([card for card in range(JOKER) if RANK[card] == rank or SUIT[card] == suit])
    for rank, suit in zip(RANK, SUIT, strict=True)
)


def called(two: int, suit: int) -> int:
    """Return the number of a laid two with a suit called on it."""
    return _FIRST_CALLED + 4 * two + suit


def pack(decks: int, *, jokers: bool) -> list[int]:
    """Return all cards of a game in order (R3; R12: two jokers per deck)."""
    return decks * [*range(JOKER), *(2 * [JOKER] if jokers else [])]
