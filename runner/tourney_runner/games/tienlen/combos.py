"""The shapes that a play can have (H5, H23; T1 to T5)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from tourney_runner.games.tienlen.cards import TWOS

__all__ = [
    "BOMBS",
    "DOUBLE_SEQUENCES",
    "NO_SHAPE",
    "PAIR",
    "QUAD",
    "SEQUENCES",
    "SETS",
    "SHAPES",
    "SINGLE",
    "TRIPLE",
    "Kind",
    "Shape",
    "rank_counts",
    "ranks_with",
    "shape_of",
]

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
