"""Explanations for refused actions, for the bot's author.

Refusals are rare, so the reason is computed only after the fast check has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.tienlen.cards import (
    BITS,
    BOMBS,
    NO_SHAPE,
    PAIR,
    QUAD,
    SETS,
    SHAPES,
    SINGLE,
    TRIPLE,
    TWOS,
    cards_in,
    shape_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["refused_pass", "refused_play"]

_ON_TWOS = {
    SINGLE: ("H19", "a 2 is beaten by a higher 2, by a bomb of 3 or more pairs or of four cards"),
    PAIR: ("H20", "two 2s are beaten by a higher pair of 2s or by 4 or more pairs in sequence"),
    TRIPLE: ("H21", "three 2s are beaten by 5 or more pairs in sequence"),
    QUAD: ("H22", "nothing beats four 2s"),
}


def refused_pass(must: int) -> IllegalActionError:
    """Return the error for a pass by the player who leads (T21, T26).

    Args:
        must: The card that the first play of the deal must contain; 0 later on.
    """
    if must:
        return IllegalActionError(
            "H10", f"you open the deal, so you may not pass but must play {_named(must)}"
        )
    return IllegalActionError("H16", "the table is empty and you lead, so you may not pass")


def refused_play(
    cards: Sequence[str], *, hand: int, must: int, table: int, owner: int
) -> IllegalActionError:
    """Return the error for an illegal play.

    Args:
        cards: The play as the bot wrote it. All of them are valid cards.
        hand: The player's cards.
        must: A card that the play must contain; 0 for none.
        table: The combination to beat; 0 for an empty table.
        owner: The seat that laid it.
    """
    play = 0
    for card in cards:
        bit = BITS[card]
        if play & bit:
            return IllegalActionError("H5", f"the play names {card} twice")
        if not hand & bit:
            return IllegalActionError("H5", f"you do not hold {card}; you hold {_named(hand)}")
        play |= bit
    shape = shape_of(play)
    if shape == NO_SHAPE:
        return _no_combination(play)
    if must and not play & must:
        return IllegalActionError(
            "H10",
            f"the first play of the deal must contain {_named(must)}, not {_named(play)}",
        )
    if not table:
        return IllegalActionError(
            "T11", f"the rules of this tournament let no bomb be led, and {_named(play)} is one"
        )
    return _too_low(play, shape, table, owner)


def _no_combination(play: int) -> IllegalActionError:
    if play & TWOS and play.bit_count() > 2:
        return IllegalActionError(
            "H23", f"{_named(play)} is not a combination: a sequence cannot contain a 2"
        )
    return IllegalActionError(
        "H5",
        f"{_named(play)} is not a combination: play a single card, a pair, three or four of a "
        "kind, a sequence of 3 or more ranks up to the ace, or a sequence of 3 or more pairs",
    )


def _too_low(play: int, shape: int, table: int, owner: int) -> IllegalActionError:
    beaten = shape_of(table)
    on_table = f"the table shows the {SHAPES[beaten]} {_named(table)} of seat {owner}"
    if shape == beaten:
        rule = "H12" if shape in SETS else "H14"
        return IllegalActionError(rule, f"{on_table}; {_named(play)} is not higher")
    own = f"{_named(play)} is a {SHAPES[shape]}"
    if shape in BOMBS and table & TWOS:
        rule, takes = _ON_TWOS[beaten]
        return IllegalActionError(rule, f"{on_table}; {own}, but {takes}")
    if beaten in BOMBS:
        return IllegalActionError("H22", f"{on_table}; {own}, which does not beat that bomb")
    if shape in BOMBS:
        return IllegalActionError("H18", f"{on_table}; {own}, and bombs may be laid on 2s only")
    rule = "H13" if SHAPES[shape].kind == SHAPES[beaten].kind else "H12"
    return IllegalActionError(rule, f"{on_table}; {own}, which is not of that type")


def _named(mask: int) -> str:
    return " ".join(cards_in(mask))
