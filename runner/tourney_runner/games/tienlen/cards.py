"""Cards as bits: bit ``rank * 4 + suit``, from 3S (bit 0) to 2H (bit 51).

A higher bit is a higher card (H7, H8), so of two combinations of one shape the one with the
higher top card is the greater number.
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
"""All cards from the lowest to the highest."""
BITS = {card: 1 << index for index, card in enumerate(CARDS)}
"""The bit of each card."""
_DIGITS = bytes.maketrans(b"01", b"\0\1")
PACK = (1 << 52) - 1
TWOS = 0b1111 << 48
"""The four 2s; as a number, at least their lowest bit is what any mask with a 2 in it reaches."""

_LETTERS = ascii_letters[26:] + ascii_letters[:26]
_LETTER_OF_CARD = dict(zip(CARDS, _LETTERS, strict=True))
_NO_CARD = "."
_BIT_OF_LETTER = {letter: 1 << index for index, letter in enumerate(_LETTERS)}


def hand_of(mask: int) -> tuple[str, ...]:
    """The cards of a mask, lowest first."""
    # In C but for the call: a third of the time of a loop over the bits, and every deal needs four.
    held = f"{mask:b}"[::-1].encode().translate(_DIGITS)
    return tuple(compress(CARDS, held))


# Plays repeat, whole hands hardly ever do; the bound holds all plays but long sequences.
cards_in = lru_cache(maxsize=1 << 14)(hand_of)
"""The same for what is asked for again and again."""


def mask_from(cards: Iterable[str]) -> int:
    """The mask of some cards; a card named twice counts once.

    Raises:
        ValueError: One of them is no card.
    """
    mask = 0
    for card in cards:
        bit = BITS.get(card)
        if bit is None:
            raise ValueError(f"{card!r} is no card")
        mask |= bit
    return mask


@lru_cache(maxsize=1 << 14)
def code_of(mask: int) -> str:
    """One letter a card, lowest first: ``A`` is 3S, ``z`` is 2H; ``.`` for no card."""
    return "".join([_LETTER_OF_CARD[card] for card in cards_in(mask)]) or _NO_CARD


def mask_from_code(code: str) -> int:
    """The reverse of `code_of`.

    Raises:
        ValueError: A sign is no card, the letters are not in ascending order, or there is none.
    """
    if code == _NO_CARD:
        return 0
    mask = 0
    for letter in code:
        bit = _BIT_OF_LETTER.get(letter)
        if bit is None:
            raise ValueError(f"{code!r}: {letter!r} stands for no card")
        if bit <= mask:
            raise ValueError(f"{code!r}: the cards are not in ascending order")
        mask |= bit
    if not mask:
        raise ValueError("an empty text stands for no cards")
    return mask
