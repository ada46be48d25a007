"""Cards as bits: bit ``rank * 4 + suit``, from 3S (bit 0) to 2H (bit 51).

A higher bit is a higher card (H7, H8), so of two combinations of the same shape, the one with the
higher top card is the larger number.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from string import ascii_letters
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BITS",
    "CARDS",
    "PACK",
    "TWOS",
    "cards_in",
    "code_of",
    "hand_of",
    "mask_from",
    "mask_from_code",
]

RANKS = "3456789TJQKA2"
SUITS = "SCDH"
CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""All cards, from lowest to highest."""
BITS = {card: 1 << index for index, card in enumerate(CARDS)}
"""The bit of each card."""
_DIGITS = bytes.maketrans(b"01", b"\0\1")
PACK = (1 << 52) - 1
TWOS = 0b1111 << 48
"""The four 2s. Any mask that contains a 2 is at least as large as the lowest bit of this one."""

_LETTERS = ascii_letters[26:] + ascii_letters[:26]
_LETTER_OF_CARD = dict(zip(CARDS, _LETTERS, strict=True))
_NO_CARD = "."
_BIT_OF_LETTER = {letter: 1 << index for index, letter in enumerate(_LETTERS)}


def hand_of(mask: int) -> tuple[str, ...]:
    """Return the cards of a mask, lowest first."""
    # This runs in C except for the call, in 1/3 of the time of a loop. Every deal needs four.
    held = f"{mask:b}"[::-1].encode().translate(_DIGITS)
    return tuple(compress(CARDS, held))


# Plays repeat, but whole hands hardly ever do. The cache can hold all plays except long sequences.
cards_in = lru_cache(maxsize=1 << 14)(hand_of)
"""A cached version, for masks that occur again and again."""


def mask_from(cards: Iterable[str]) -> int:
    """Return the mask of some cards. A card named twice counts once.

    Raises:
        ValueError: One of them is not a card.
    """
    mask = 0
    for card in cards:
        bit = BITS.get(card)
        if bit is None:
            raise ValueError(f"{card!r} is not a card")
        mask |= bit
    return mask


@lru_cache(maxsize=1 << 14)
def code_of(mask: int) -> str:
    """Return one letter per card, lowest first: ``A`` is 3S, ``z`` is 2H; ``.`` for no card."""
    return "".join([_LETTER_OF_CARD[card] for card in cards_in(mask)]) or _NO_CARD


def mask_from_code(code: str) -> int:
    """Return the mask for a text made by `code_of`.

    Raises:
        ValueError: A letter is not a card, the letters are not ascending, or the text is empty.
    """
    if code == _NO_CARD:
        return 0
    mask = 0
    for letter in code:
        bit = _BIT_OF_LETTER.get(letter)
        if bit is None:
            raise ValueError(f"{code!r}: {letter!r} does not stand for a card")
        if bit <= mask:
            raise ValueError(f"{code!r}: the cards are not in ascending order")
        mask |= bit
    if not mask:
        raise ValueError("an empty text does not stand for cards")
    return mask
