"""Cards as small integers, and what is asked of them again and again, as tables.

A card is ``rank * 4 + suit``, ranks from the two up (R5), suits S < C < D < H; so 0 is 2S, 51 is
AH, and sorting integers sorts cards. The joker is 52. Cards of several decks that look alike are
the same number: zones are lists that may hold a number more than once.

A two on the pile whose player called a suit (R26) is a number of its own above those, so that a
pile is a plain list of integers and its top card alone tells what may follow.
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
"""A number that no other card has: a joker has no rank (S27)."""

JOKER = 52
_FIRST_CALLED = JOKER + 1
EMPTY = _FIRST_CALLED + 16
"""What "the top card" is when there is no pile: the tables have a row for it."""

ALL_CARDS = (1 << _FIRST_CALLED) - 1
"""The set of all cards; sets of cards are bit masks."""

NAMES: tuple[str, ...] = (
    *(rank + suit for rank in RANKS for suit in SUITS),
    "JK",
    *(f"2{printed}>{call}" for printed in SUITS for call in SUITS),
)
"""``7H``, ``JK``, and for a laid two with its call ``2S>H``."""

NUMBERS: dict[str, int] = {name: card for card, name in enumerate(NAMES[:_FIRST_CALLED])}
"""The number of every card that a hand can hold."""

LAID_NAMES: dict[str, int] = {name: card for card, name in enumerate(NAMES)}
"""The same for the pile, twos with a call included."""

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
"""The suit that counts: for a two with a call, the suit called (S22); -1 where there is none."""


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
    """The laid two with a suit called on it."""
    return _FIRST_CALLED + 4 * two + suit


def pack(decks: int, *, jokers: bool) -> list[int]:
    """All cards of a game in order (R3; R12: two jokers a deck)."""
    return decks * [*range(JOKER), *(2 * [JOKER] if jokers else [])]
