"""Sheds at every chance: it lays something whenever it can and thinks of nothing else."""

from __future__ import annotations

from tourney_bot import Answer, Turn, run

RANKS = "3456789TJQKA2"
SUITS = "SCDH"


def choose(turn: Turn) -> Answer:
    """Something to lay, if there is; else a chance card; else pass."""
    plays = [answer for answer in turn.legal if "play" in answer]
    if not plays:
        return next((answer for answer in turn.legal if "chance" in answer), turn.legal[-1])
    return lowest(plays) if turn.game == "tienlen" else most(plays, turn)


def lowest(plays: list[Answer]) -> Answer:
    """The lowest cards, and as many as go with them."""

    def rank(answer: Answer) -> tuple[int, int, int]:
        top = max((RANKS.index(card[0]), SUITS.index(card[1])) for card in answer["play"])
        return (*top, -len(answer["play"]))

    return min(plays, key=rank)


def most(plays: list[Answer], turn: Turn) -> Answer:
    """The most cards, but rather plain ones than jokers, jacks, tens and twos.

    Among equals chance decides: without it the same few plays can go round for ever.
    """

    def rank(answer: Answer) -> tuple[int, int]:
        return len(answer["play"]), -sum(card[0] in "JT2" for card in answer["play"])

    best = max(map(rank, plays))
    return turn.random.choice([answer for answer in plays if rank(answer) == best])


run(choose, name="greedy", legal="canonical")
