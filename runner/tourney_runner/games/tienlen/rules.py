"""The rules for beating plays (H12 to H14, H17 to H23; T7 to T17, T9 to T14 with options)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tourney_runner.games.tienlen.cards import (
    BOMBS,
    DOUBLE_SEQUENCES,
    PAIR,
    QUAD,
    SHAPES,
    SINGLE,
    TRIPLE,
    TWOS,
    cards_in,
    shape_of,
)
from tourney_runner.games.tienlen.views import Table

if TYPE_CHECKING:
    from tourney_runner.games.tienlen.options import TienlenOptions

__all__ = ["Answers", "Rules", "rules_of"]

Answers = dict[int, int]
"""The shapes that may be laid, each with the lowest sufficient mask.

A mask with a higher top card is a larger number, so "higher than 7D" means "at least the bit above
7D", and "any" is 1.
"""

_ANY = 1
_TWO = TWOS & -TWOS


class Rules:
    """The rules for one set of options, as tables."""

    __slots__ = ("_on_bombs", "_on_twos", "_tie", "laid", "lead")

    lead: Answers
    """The plays that may be laid on an empty table (T11)."""

    def __init__(self, options: TienlenOptions) -> None:
        barred = frozenset() if options.bombs_may_lead else BOMBS
        self.lead = {shape: _ANY for shape in range(len(SHAPES)) if shape not in barred}
        self._tie = options.equal_rank_sets == "tie"
        self._on_twos = _on_twos(quad_on_pair=options.quad_beats_pair_of_twos)
        self._on_bombs = _on_bombs(options)
        self.laid = lru_cache(maxsize=1 << 14)(self._laid)
        """A cached function of the mask of a play and its seat. Returns the table and the plays
        that beat it."""

    def _laid(self, play: int, by: int) -> tuple[Table, Answers]:
        shape = shape_of(play)
        return Table(cards_in(play), by, SHAPES[shape].kind), self._answers(play, shape)

    def _answers(self, play: int, shape: int) -> Answers:
        """Return the plays that beat a play: a higher one of the same shape, and bombs."""
        above = play.bit_length()
        if self._tie and PAIR <= shape <= QUAD:  # T9: the rank must be higher
            above = above + 3 & ~3
        bombs = self._on_twos[shape] if play >= _TWO else self._on_bombs.get(shape)
        return {shape: 1 << above, **bombs} if bombs else {shape: 1 << above}


def _pairs(least: int) -> Answers:
    """Return all double sequences of at least `least` pairs."""
    return {shape: _ANY for length, shape in DOUBLE_SEQUENCES.items() if length >= least}


def _on_twos(*, quad_on_pair: bool) -> dict[int, Answers]:
    """Return the bombs that beat one to three 2s (H19 to H21, T14, T16); four are safe."""
    quad = {QUAD: _ANY}
    return {
        SINGLE: {**quad, **_pairs(3)},
        PAIR: {**(quad if quad_on_pair else {}), **_pairs(4)},
        TRIPLE: _pairs(5),
        QUAD: {},
    }


def _on_bombs(options: TienlenOptions) -> dict[int, Answers]:
    """Return the bombs of another shape that may be laid on a bomb (H22; T12, T13)."""
    southern = options.bomb_hierarchy == "southern"
    if not southern and options.double_sequence_answer == "same_length":
        return {}
    table = {shape: _pairs(length + 1) for length, shape in DOUBLE_SEQUENCES.items()}
    if southern:
        table[DOUBLE_SEQUENCES[3]][QUAD] = _ANY
        table[QUAD] = _pairs(4)
    return table


@lru_cache(maxsize=64)
def rules_of(options: TienlenOptions) -> Rules:
    """Return the tables for some options, built once."""
    return Rules(options)
