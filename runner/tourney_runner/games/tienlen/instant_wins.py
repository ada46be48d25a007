"""Instant wins: hands that win as soon as they are dealt (H24; T34 to T37, T34a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.games.tienlen.cards import TWOS, rank_counts, ranks_with

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["InstantWin", "InstantWinKind", "instant_win"]

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
