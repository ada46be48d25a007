"""Sheds at every chance: it lays something whenever it can and thinks of nothing else."""

from __future__ import annotations

from tourney_bot import Answer, Turn, run

RANKS = {"tienlen": "3456789TJQKA2", "speahx": "3456789QKAJT2"}
"""From the cards that are laid first to those that are kept: in Speahx jacks, tens and twos."""
SUITS = "SCDH"


def choose(turn: Turn) -> Answer:
    """The lowest cards in Tien Len, the most cards in Speahx; else a chance card; else pass."""
    plays = [answer for answer in turn.legal if "play" in answer]
    if not plays:
        return next((answer for answer in turn.legal if "chance" in answer), turn.legal[-1])
    ranks = RANKS[turn.game]

    def values(answer: Answer) -> list[tuple[int, int]]:
        """Of the cards, highest first; a joker is above all."""
        cards = [
            (ranks.index(card[0]), SUITS.index(card[1])) if card != "JK" else (99, 0)
            for card in answer["play"]
        ]
        return sorted(cards, reverse=True)

    if turn.game == "tienlen":
        return min(plays, key=lambda answer: (values(answer)[0], -len(answer["play"])))
    return min(plays, key=lambda answer: (-len(answer["play"]), values(answer)))


run(choose, name="greedy", legal="canonical")
