"""Plays any legal answer with equal chance: the floor that every other bot should beat."""

from __future__ import annotations

from tourney_bot import Answer, Turn, run


def choose(turn: Turn) -> Answer:
    """One of the legal answers, by the seed of the deal."""
    return turn.random.choice(turn.legal)


run(choose, name="random", legal="all")
