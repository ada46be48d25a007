"""Cards and combinations as bits: bit ``rank * 4 + suit``, from 3S (bit 0) to 2H (bit 51).

A higher bit is a higher card (H7, H8), so of two combinations of the same shape, the one with the
higher top card is the larger number. Instant wins (H24; T34 to T37, T34a) are hands that win as
soon as they are dealt.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from string import ascii_letters
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = [
    "BITS",
    "BOMBS",
    "CARDS",
    "DOUBLE_SEQUENCES",
    "NO_SHAPE",
    "PACK",
    "PAIR",
    "QUAD",
    "SEQUENCES",
    "SETS",
    "SHAPES",
    "SINGLE",
    "TRIPLE",
    "TWOS",
    "InstantWin",
    "InstantWinKind",
    "Kind",
    "Shape",
    "cards_in",
    "code_of",
    "hand_of",
    "instant_win",
    "mask_from",
    "mask_from_code",
    "rank_counts",
    "ranks_with",
    "shape_of",
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


Kind = Literal["single", "pair", "triple", "quad", "seq", "dseq"]


class Shape(NamedTuple):
    """The type of a combination.

    A play beats another of the same shape if it is higher (H12, H13).
    """

    kind: Kind
    length: int
    """The cards of a set, or the ranks of a sequence or double sequence (T2)."""

    def __str__(self) -> str:
        """Return the shape in words: ``sequence of 4``."""
        match self.kind:
            case "seq":
                return f"sequence of {self.length}"
            case "dseq":
                return f"double sequence of {self.length} pairs"
            case "triple":
                return "three of a kind"
            case "quad":
                return "four of a kind"
            case _:
                return self.kind


# Internally, a shape is its index in SHAPES, as ints are faster to compare and look up.
NO_SHAPE = -1
SINGLE, PAIR, TRIPLE, QUAD = SETS = range(4)
SEQUENCES = {length: length + 1 for length in range(3, 13)}
"""The shapes of sequences by length; 12 is 3 to ace (T4)."""
DOUBLE_SEQUENCES = {length: length + 11 for length in range(3, 13)}
"""The shapes of double sequences by number of pairs."""
SHAPES = (
    Shape("single", 1),
    Shape("pair", 2),
    Shape("triple", 3),
    Shape("quad", 4),
    *(Shape("seq", length) for length in SEQUENCES),
    *(Shape("dseq", length) for length in DOUBLE_SEQUENCES),
)
BOMBS = frozenset({QUAD, *DOUBLE_SEQUENCES.values()})
"""The shapes that are bombs (H17)."""

_EACH_RANK = 0x1111111111111

_SHAPE_BY_COUNTS = {
    **{shape + 1: shape for shape in SETS},
    **{int("1" * length, 16): shape for length, shape in SEQUENCES.items()},
    **{int("2" * length, 16): shape for length, shape in DOUBLE_SEQUENCES.items()},
}
"""Shapes by `rank_counts`, with the lowest rank moved to the lowest digit."""


def rank_counts(mask: int) -> int:
    """Return the number of cards of each rank, one hexadecimal digit per rank, the 3s lowest."""
    pairs = mask - (mask >> 1 & 0x5555555555555)
    return (pairs & 0x3333333333333) + (pairs >> 2 & 0x3333333333333)


def ranks_with(counts: int, size: int) -> int:
    """Return the ranks with at least `size` cards, as digits of 1 in the form of `rank_counts`."""
    if size == 1:
        counts |= counts >> 1 | counts >> 2
    elif size == 2:
        counts = counts >> 1 | counts >> 2
    elif size == 3:
        counts = counts >> 2 | counts & counts >> 1
    else:
        counts >>= 2
    return counts & _EACH_RANK


@lru_cache(maxsize=1 << 14)
def shape_of(mask: int) -> int:
    """Return the shape of some cards as an index into `SHAPES`, or `NO_SHAPE`."""
    lowest = (mask & -mask).bit_length() - 1
    if lowest < 0:
        return NO_SHAPE
    shape = _SHAPE_BY_COUNTS.get(rank_counts(mask) >> (lowest & ~3), NO_SHAPE)
    if shape not in SETS and mask & TWOS:  # H23
        return NO_SHAPE
    return shape


_THREE_TO_ACE = 0x111111111111
"""The lowest card of each rank except the 2s."""

InstantWinKind = Literal[
    "four_twos", "run_3_to_A", "five_pair_run", "three_triple_run", "six_pairs"
]


class InstantWin(msgspec.Struct, frozen=True):
    """The winner of a deal that was won at once, and the winning hand."""

    seat: int
    """The winner's seat."""
    kind: InstantWinKind
    """The kind of the winning hand."""


def instant_win(hands: Sequence[int], kinds: Collection[InstantWinKind]) -> InstantWin | None:
    """Return the strongest hand that wins at once, or None.

    Args:
        hands: Masks by seat; 0 for an unknown hand.
        kinds: The kinds that count. The stronger kind wins. For equal kinds, the hand whose
            combination has the highest card wins (T37, T34a).
    """
    for kind, top_card in _TOP_CARD.items():
        if kind in kinds:
            tops = [top_card(hand) for hand in hands]
            best = max(tops)
            if best:
                return InstantWin(tops.index(best), kind)
    return None


def _four_twos(hand: int) -> int:
    return TWOS if hand & TWOS == TWOS else 0


def _all_ranks(hand: int) -> int:
    """Return the aces if there is one of each rank but the 2s.

    Called for every deal, so kept fast.
    """
    ranks = (hand | hand >> 1 | hand >> 2 | hand >> 3) & _THREE_TO_ACE
    return _cards_of_highest(hand, ranks) if ranks == _THREE_TO_ACE else 0


def _run(hand: int, length: int, copies: int) -> int:
    """Return the top rank's cards of the highest run of `length` ranks without 2s; 0 if none."""
    enough = ranks_with(rank_counts(hand & ~TWOS), copies)
    for _ in range(length - 1):
        enough &= enough << 4
    return _cards_of_highest(hand, enough)


def _six_pairs(hand: int) -> int:
    counts = rank_counts(hand)
    pairs = ranks_with(counts, 2)
    if pairs.bit_count() + ranks_with(counts, 4).bit_count() < 6:
        return 0
    return _cards_of_highest(hand, pairs)


def _cards_of_highest(hand: int, ranks: int) -> int:
    """Return the hand's cards of the highest of some ranks, or 0 if there are no ranks."""
    return hand & 0b1111 << ranks.bit_length() - 1 if ranks else 0


# Strongest first. Each function returns 0, or a number that grows with the top card.
_TOP_CARD: dict[InstantWinKind, Callable[[int], int]] = {
    "four_twos": _four_twos,
    "run_3_to_A": _all_ranks,
    "five_pair_run": lambda hand: _run(hand, 5, 2),
    "three_triple_run": lambda hand: _run(hand, 3, 3),
    "six_pairs": _six_pairs,
}
