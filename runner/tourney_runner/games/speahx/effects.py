"""Four of a kind (R28-R30): which cards leave the pile after a play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.speahx.cards import RANK, RANK_OF_JOKER

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["four_of_a_kind"]


def four_of_a_kind(pile: Sequence[int], played: int, scope: str) -> Sequence[int]:
    """Where in the pile the four cards lie, bottom first; empty when there are no four.

    Only the rank of the last card laid counts, jokers have none, and of more than four the
    topmost four are meant (S25-S27).

    Args:
        pile: The pile with the play on it.
        played: How many of its top cards were laid in this play.
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
