"""Hands that win as soon as they are dealt (H24; T34 to T37, T34a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.games.tienlen.cards import TWOS
from tourney_runner.games.tienlen.combos import rank_counts, ranks_with

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["InstantWin", "InstantWinKind", "instant_win"]

_THREE_TO_ACE = 0x111111111111
"""The lowest card of each rank but the 2s."""

InstantWinKind = Literal[
    "four_twos", "run_3_to_A", "five_pair_run", "three_triple_run", "six_pairs"
]


class InstantWin(msgspec.Struct, frozen=True):
    """Who won a deal at once, and by what."""

    seat: int
    """The winner's."""
    kind: InstantWinKind
    """The hand that won."""


def instant_win(hands: Sequence[int], kinds: Collection[InstantWinKind]) -> InstantWin | None:
    """The strongest hand that wins at once, if there is one.

    Args:
        hands: Masks by seat; 0 where a hand is not known.
        kinds: The kinds that count. The stronger kind wins, and of one kind the hand whose
            combination has the highest card (T37, T34a).
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
    """One of each rank but the 2s; every deal asks for it, so it takes no more than it must."""
    ranks = (hand | hand >> 1 | hand >> 2 | hand >> 3) & _THREE_TO_ACE
    return _cards_of_highest(hand, ranks) if ranks == _THREE_TO_ACE else 0


def _run(hand: int, length: int, copies: int) -> int:
    """The highest run of so many neighbouring ranks without 2s: its top rank's cards."""
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
    """The hand's cards of the highest of some ranks, or 0 where there is none."""
    return hand & 0b1111 << ranks.bit_length() - 1 if ranks else 0


# Strongest first. Each gives 0, or a number that is the greater the higher the top card is.
_TOP_CARD: dict[InstantWinKind, Callable[[int], int]] = {
    "four_twos": _four_twos,
    "run_3_to_A": _all_ranks,
    "five_pair_run": lambda hand: _run(hand, 5, 2),
    "three_triple_run": lambda hand: _run(hand, 3, 3),
    "six_pairs": _six_pairs,
}
