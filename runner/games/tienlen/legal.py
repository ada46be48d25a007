"""All plays that a hand allows."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from runner.games.tienlen.cards import TWOS
from runner.games.tienlen.combos import QUAD, SEQUENCES, SHAPES, rank_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.games.tienlen.rules import Answers

__all__ = ["plays"]

Picks = tuple[tuple[tuple[int, ...], ...], ...]
"""By rank, by the four bits held of that rank: the masks that may be picked."""


class _Choice(NamedTuple):
    """Which picks of one size may stand at the top of a play, and which below its top rank."""

    top: Picks
    inner: Picks


def _all_of(bits: int, size: int) -> list[int]:
    """The ways to pick so many of four cards of one rank, by their top card, lowest first."""
    cards = [1 << suit for suit in range(4) if bits >> suit & 1]
    return sorted(sum(pick) for pick in combinations(cards, size))


def _lowest_of(bits: int, size: int) -> list[int]:
    """Only the lowest way."""
    return _all_of(bits, size)[:1]


def _one_a_top_of(bits: int, size: int) -> list[int]:
    """The lowest way for each top card."""
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
    """By size less one."""
    return tuple(_Choice(_picks(size, top), _picks(size, inner)) for size in (1, 2, 3, 4))


_CHOICES = {
    "all": _choices(_all_of, _all_of),
    "canonical": _choices(_one_a_top_of, _lowest_of),
}
_LENGTHS = tuple(shape.length for shape in SHAPES)
_LAST_SEQUENCE = SEQUENCES[12]


def plays(
    hand: int, answers: Answers, must: int = 0, mode: Literal["all", "canonical"] = "all"
) -> list[int]:
    """The plays of a hand among those that may be laid.

    Args:
        hand: The cards held.
        answers: What may be laid, see `runner.games.tienlen.rules.Answers`.
        must: A card that each play has to contain, the lowest of the hand; 0 for none.
        mode: ``canonical`` gives one play per shape and top card, made of the lowest cards.
    """
    choices = _CHOICES[mode]
    found: list[int] = []
    sequences: dict[int, int] = {}
    doubles: dict[int, int] = {}
    for shape, least in answers.items():
        if shape <= QUAD:
            _add_sets(found, hand, choices[shape].top, least)
        elif shape <= _LAST_SEQUENCE:
            sequences[_LENGTHS[shape]] = least
        else:
            doubles[_LENGTHS[shape]] = least
    if sequences or doubles:
        counts = rank_counts(hand & ~TWOS)
        two_or_more = counts >> 1 | counts >> 2
        if sequences:
            _add_runs(found, hand, (two_or_more | counts) & _EACH_RANK, choices[0], sequences)
        if doubles:
            _add_runs(found, hand, two_or_more & _EACH_RANK, choices[1], doubles)
    return [play for play in found if play & must] if must else found


_EACH_RANK = 0x111111111111


def _add_sets(found: list[int], hand: int, picks: Picks, least: int) -> None:
    """Add the sets of one size."""
    lowest = least.bit_length() - 1 >> 2
    if lowest == 13:
        return
    bits = hand >> 4 * lowest
    # Only in the lowest rank can there be sets that are too low.
    found += [play for play in picks[lowest][bits & 0b1111] if play >= least]
    for by_bits in picks[lowest + 1 :]:
        bits >>= 4
        found += by_bits[bits & 0b1111]


def _add_runs(
    found: list[int], hand: int, ranks: int, choice: _Choice, least_by_length: dict[int, int]
) -> None:
    """Add the sequences, or double sequences, of the given lengths (which are neighbours).

    Args:
        found: What to add to.
        hand: The cards held.
        ranks: The ranks of which enough cards are held, as `rank_counts` numbers them.
        choice: The picks from each rank.
        least_by_length: The least play that will do for each length.
    """
    shortest = min(least_by_length)
    longest = max(least_by_length)
    starts = ranks
    for step in range(1, shortest):
        starts &= ranks >> 4 * step
    while starts:
        first = starts & -starts
        starts ^= first
        rank = first.bit_length() >> 2
        lower: Sequence[int] = (0,)
        for length in range(1, longest + 1):
            if not ranks >> 4 * rank & 1:
                break
            bits = hand >> 4 * rank & 0b1111
            if length >= shortest:
                least = least_by_length[length]
                tops = choice.top[rank][bits]
                found += [run for low in lower for top in tops if (run := low | top) >= least]
            inner = choice.inner[rank][bits]
            lower = [low | card for low in lower for card in inner]
            rank += 1
