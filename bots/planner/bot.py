"""Looks ahead: in Tien Len by playing deals to their end, in Speahx by weighing what it keeps.

The work for a move is a fixed number of steps, never "until the clock", so that the bot plays
the same on every machine. It remembers nothing: each move follows from its request and the seed
of the deal alone.
"""

from __future__ import annotations

import speahx
import tienlen
from tourney_bot import Answer, Turn, run


def choose(turn: Turn) -> Answer:
    """The best answer that is seen."""
    if len(turn.legal) == 1:
        return turn.legal[0]
    return tienlen.choose(turn) if turn.game == "tienlen" else speahx.choose(turn)


run(choose, name="planner", legal="canonical")
