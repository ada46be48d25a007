"""The generator of all plays that a hand allows."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from tourney_runner.games.tienlen.cards import QUAD, SEQUENCES, SHAPES, rank_counts, ranks_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tourney_runner.games.tienlen.rules import Answers

__all__ = ["plays"]

Picks = tuple[tuple[tuple[int, ...], ...], ...]
"""The masks that may be picked, by rank and by the four bits held of that rank."""


class _Choice(NamedTuple):
    """Picks of one size for the top rank of a play, and for the ranks below."""

    top: Picks
    inner: Picks


def _all_of(bits: int, size: int) -> list[int]:
    """Return the ways to pick `size` of four cards of one rank, by top card, lowest first."""
    cards = [1 << suit for suit in range(4) if bits >> suit & 1]
    return sorted(sum(pick) for pick in combinations(cards, size))


def _lowest_of(bits: int, size: int) -> list[int]:
    """Return only the lowest way."""
    return _all_of(bits, size)[:1]


def _one_a_top_of(bits: int, size: int) -> list[int]:
    """Return the lowest way for each top card."""
    lowest: dict[int, int] = {}
    for pick in _all_of(bits, size):
        lowest.setdefault(pick.bit_length(), pick)
    return list(lowest.values())


def _picks(size: int, ways: Callable[[int, int], list[int]]) -> Picks:
    return tuple(
        tuple(tuple(pick << 4 * rank for pick in ways(bits, size)) for bits in range(16))
        for rank in range(13)
    )


def _choices(
    top: Callable[[int, int], list[int]], inner: Callable[[int, int], list[int]]
) -> tuple[_Choice, ...]:
    """Return the choices, indexed by size minus one."""
    return tuple(_Choice(_picks(size, top), _picks(size, inner)) for size in (1, 2, 3, 4))


_CHOICES = {
    "all": _choices(_all_of, _all_of),
    "canonical": _choices(_one_a_top_of, _lowest_of),
}
_LENGTHS = tuple(shape.length for shape in SHAPES)
_NO_TWOS = 0x0111111111111
_LAST_SEQUENCE = SEQUENCES[12]


def plays(
    hand: int, answers: Answers, must: int = 0, mode: Literal["all", "canonical"] = "all"
) -> list[int]:
    """Return the plays of a hand among those that may be laid.

    Args:
        hand: The cards held.
        answers: The plays that may be laid; see `games.tienlen.rules.Answers`.
        must: A card that each play must contain, the lowest of the hand; 0 for none.
        mode: ``canonical`` gives one play per shape and top card, made of the lowest cards.
    """
    choices = _CHOICES[mode]
    found: list[int] = []
    sequences: dict[int, int] = {}
    doubles: dict[int, int] = {}
    counts = rank_counts(hand)
    for shape, least in answers.items():
        if shape <= QUAD:
            _add_sets(found, hand, ranks_with(counts, shape + 1), choices[shape].top, least)
        elif shape <= _LAST_SEQUENCE:
            sequences[_LENGTHS[shape]] = least
        else:
            doubles[_LENGTHS[shape]] = least
    if sequences:
        _add_runs(found, hand, ranks_with(counts, 1), choices[0], sequences)
    if doubles:
        _add_runs(found, hand, ranks_with(counts, 2), choices[1], doubles)
    return [play for play in found if play & must] if must else found


def _add_sets(found: list[int], hand: int, ranks: int, picks: Picks, least: int) -> None:
    """Add the sets of one size. There are enough cards of the given ranks."""
    ranks &= -(1 << (least.bit_length() - 1 & ~3))
    while ranks:
        rank = ranks & -ranks
        ranks ^= rank
        shift = rank.bit_length() - 1
        sets = picks[shift >> 2][hand >> shift & 0b1111]
        # Only in the lowest rank can sets be too low.
        found += sets if rank >= least else [play for play in sets if play >= least]


def _add_runs(
    found: list[int], hand: int, ranks: int, choice: _Choice, least_by_length: dict[int, int]
) -> None:
    """Add the sequences, or double sequences, of the given lengths, which are consecutive.

    Args:
        found: The list to extend.
        hand: The cards held.
        ranks: The ranks of which enough cards are held, see `ranks_with`.
        choice: The picks from each rank.
        least_by_length: The lowest sufficient play for each length.
    """
    shortest, longest = min(least_by_length), max(least_by_length)
    ranks &= _NO_TWOS
    starts = ranks
    for step in range(1, shortest):
        starts &= ranks >> 4 * step
    everywhere = choice.inner is choice.top
    while starts:
        shift = (starts & -starts).bit_length() - 1
        tops, inner = [], []
        while ranks >> shift & 1:
            bits = hand >> shift & 0b1111
            tops.append(choice.top[shift >> 2][bits])
            inner.append(choice.inner[shift >> 2][bits])
            shift += 4
        starts &= -1 << shift
        for start in range(len(tops) - shortest + 1):
            lower: Sequence[int] = inner[start]
            for end in range(start + 1, min(start + longest, len(tops))):
                runs = [low | top for low in lower for top in tops[end]]
                length = end - start + 1
                if length >= shortest:
                    least = least_by_length[length]
                    found += runs if least == 1 else [run for run in runs if run >= least]
                # If all picks may stand anywhere, the runs are the lower parts of longer ones.
                lower = runs if everywhere else [low | card for low in lower for card in inner[end]]
