"""The rules of single plays once more: slow, plain, and sharing no code with the game."""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tourney_runner.games.tienlen.options import TienlenOptions

RANKS = ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"]
SUITS = ["S", "C", "D", "H"]
PACK = [rank + suit for rank in RANKS for suit in SUITS]

Cards = frozenset[str]


class Combination(NamedTuple):
    kind: str
    length: int
    top: tuple[int, int]
    """Rank and suit of the highest card."""
    twos: int


def combination(cards: Cards) -> Combination | None:
    """Return the kind of a combination; None if the cards are not one (H5, H23)."""
    if not cards:
        return None
    values = sorted((RANKS.index(card[0]), SUITS.index(card[1])) for card in cards)
    ranks = sorted({rank for rank, _ in values})
    per_rank = {sum(rank == other for other, _ in values) for rank in ranks}
    twos = sum(card[0] == "2" for card in cards)
    if len(ranks) == 1:
        kind = ["single", "pair", "triple", "quad"][len(cards) - 1]
        return Combination(kind, len(cards), values[-1], twos)
    neighbours = all(high == low + 1 for low, high in pairwise(ranks))
    if len(ranks) < 3 or not neighbours or twos:
        return None
    if per_rank == {1}:
        return Combination("seq", len(ranks), values[-1], twos)
    if per_rank == {2}:
        return Combination("dseq", len(ranks), values[-1], twos)
    return None


def may_lead(play: Combination, options: TienlenOptions) -> bool:
    return options.bombs_may_lead or play.kind not in {"quad", "dseq"}


def beats(play: Combination, table: Combination, options: TienlenOptions) -> bool:
    if play.kind == table.kind and play.length == table.length:
        if table.kind in {"pair", "triple", "quad"} and options.equal_rank_sets == "tie":
            return play.top[0] > table.top[0]
        return play.top > table.top
    if table.twos:
        return _beats_twos(play, table.length, options)
    if options.bomb_hierarchy == "southern":
        weights = [_southern_weight(play), _southern_weight(table)]
        return None not in weights and weights[0] > weights[1]
    longer = play.kind == table.kind == "dseq" and play.length > table.length
    return longer and options.double_sequence_answer == "longer_wins"


def _beats_twos(play: Combination, twos: int, options: TienlenOptions) -> bool:
    if play.kind == "quad":
        return twos == 1 or (twos == 2 and options.quad_beats_pair_of_twos)
    return play.kind == "dseq" and twos < 4 and play.length >= {1: 3, 2: 4, 3: 5}[twos]


def _southern_weight(bomb: Combination) -> float | None:
    if bomb.kind == "quad":
        return 3.5
    return bomb.length if bomb.kind == "dseq" else None


def subsets(hand: Iterable[str]) -> Iterator[Cards]:
    hand = list(hand)
    sizes = range(1, len(hand) + 1)
    return map(frozenset, chain.from_iterable(combinations(hand, size) for size in sizes))


def legal_plays(
    hand: Iterable[str], table: Cards | None, must: str | None, options: TienlenOptions
) -> set[Cards]:
    on_table = combination(table) if table else None
    found = set()
    for cards in subsets(hand):
        play = combination(cards)
        if play is None or (must is not None and must not in cards):
            continue
        if may_lead(play, options) if on_table is None else beats(play, on_table, options):
            found.add(cards)
    return found
