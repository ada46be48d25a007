"""Four of a kind (R28-R30): the cards that leave the pile after a play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.speahx.cards import RANK, RANK_OF_JOKER

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["four_of_a_kind"]


def four_of_a_kind(pile: Sequence[int], played: int, scope: str) -> Sequence[int]:
    """Return the positions of the four cards in the pile, bottom first; empty without four.

    Only the rank of the last card laid counts, and jokers have none. Of more than four cards, the
    topmost four are returned (S25-S27).

    Args:
        pile: The pile with the play on it.
        played: The number of its top cards that were laid in this play.
        scope: The option `quad_scope`.
    """
    size = len(pile)
    if size < 4 or scope == "off":
        return ()
    rank = RANK[pile[-1]]
    if rank == RANK_OF_JOKER:
        return ()
    if scope == "anywhere":
        places = [place for place, card in enumerate(pile) if RANK[card] == rank]
        return places[-4:] if len(places) >= 4 else ()
    if scope == "single_play" and played < 4:
        return ()
    if RANK[pile[-2]] == rank and RANK[pile[-3]] == rank and RANK[pile[-4]] == rank:
        return range(size - 4, size)
    return ()
