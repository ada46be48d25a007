"""Plays any legal action of an OpenSpiel game with equal chance."""

from __future__ import annotations

from tourney_bot import Answer, Turn, run


def choose(turn: Turn) -> Answer:
    """Return one of the legal actions, by the seed of the deal."""
    return {"action": turn.random.choice(turn.view["legal"])}


run(choose, name="openspiel-random")
