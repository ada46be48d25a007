"""Deals of Tien Len that test a bot on each rule, and the plays that wrong rules would allow."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Any

from tourney_runner.games.rule_probes import BuiltDeal, RuleProbes
from tourney_runner.games.tienlen.cards import (
    BOMBS,
    CARDS,
    NO_SHAPE,
    RANKS,
    SHAPES,
    TWOS,
    cards_in,
    mask_from,
    shape_of,
)
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.state import PASS, TienlenState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

__all__ = ["TienlenProbes"]

_HAND = 13
_ACE, _TWO = RANKS.index("A"), RANKS.index("2")
_LONGEST_NAMED = 5
"""Longer sequences are treated as one point of the rules."""


def _rank(rank: int) -> list[str]:
    return [*CARDS[4 * rank : 4 * rank + 4]]


class TienlenProbes(RuleProbes[TienlenOptions]):
    """Probes with first leads, free leads and plays on a chosen combination."""

    def deals(self, options: TienlenOptions, chance: Random) -> Iterator[BuiltDeal]:
        """See `RuleProbes.deals`."""
        while True:
            seat = chance.randrange(options.players)
            draw = chance.random()
            if draw < 0.15:
                deal = _first_lead(options, chance, seat)
            elif draw < 0.25:
                deal = _free_lead(options, chance, seat)
            else:
                deal = _follow(options, chance, seat)
            first = (seat - len(deal.script)) % options.players
            if deal.start().current_player == first:  # otherwise an instant win changed the turn
                yield deal

    def attempts(self, state: TienlenState) -> Iterator[dict[str, Any]]:
        """See `RuleProbes.attempts`."""
        yield {"pass": True}
        held = [
            [card for card in _rank(rank) if card in state.hand(state.current_player)]
            for rank in range(len(RANKS))
        ]
        for play in _wide_plays(held):
            yield {"play": play}

    def point(self, state: TienlenState, attempt: dict[str, Any], rule: str) -> str:
        """See `RuleProbes.point`."""
        if "pass" in attempt:
            return f"{rule}: passing where one has to lead"
        play, table = mask_from(attempt["play"]), state.observation(state.current_player).table
        if shape_of(play) == NO_SHAPE:
            return f"{rule}: {_no_combination(attempt['play'])}"
        if table is None:
            return f"{rule}: {_named(play)}{' without the lowest card' if rule == 'H10' else ''}"
        laid = mask_from(table.cards)
        if shape_of(play) == shape_of(laid):
            return f"{rule}: {_too_low(play, laid)}"
        return f"{rule}: {_named(play)} on {_named(laid)}"

    def kinds(self, state: TienlenState, action: int) -> tuple[str, ...]:
        """See `RuleProbes.kinds`."""
        if action == PASS:
            return ("passing",)
        shape = shape_of(action)
        kinds = [SHAPES[shape].kind]
        words = {"seq": "sequence", "dseq": "double sequence", "quad": "four of a kind",
                 "triple": "three of a kind"}  # fmt: skip
        named = words.get(kinds[0], kinds[0])
        table = state.observation(state.current_player).table
        if shape in BOMBS and table is not None and mask_from(table.cards) & TWOS:
            return (f"{named} on 2s",)
        return (named,)


def _first_lead(options: TienlenOptions, chance: Random, seat: int) -> BuiltDeal:
    """Build a first deal that the bot opens with its lowest card."""
    lowest = CARDS[0] if options.players == 4 else CARDS[chance.randrange(3)]
    pool = [card for card in CARDS if CARDS.index(card) > CARDS.index(lowest)]
    hand = [lowest, *_hand(chance, pool, _HAND - 1, _blocks(chance))]
    return BuiltDeal(_dealer(options, chance, {seat: hand}, pool, None), (), seat)


def _free_lead(options: TienlenOptions, chance: Random, seat: int) -> BuiltDeal:
    hand = _hand(chance, [*CARDS], _HAND, _blocks(chance))
    return BuiltDeal(_dealer(options, chance, {seat: hand}, [*CARDS], seat), (), seat)


def _follow(options: TienlenOptions, chance: Random, seat: int) -> BuiltDeal:
    """Build a deal in which the seat before the bot leads a chosen combination."""
    before = (seat - 1) % options.players
    lead = _led(options, chance)
    pool = [card for card in CARDS if card not in lead]
    hand = _hand(chance, pool, _HAND, _blocks(chance, lead))
    pool = [card for card in pool if card not in hand]
    other = [*lead, *_hand(chance, pool, _HAND - len(lead), [])]
    hands = {seat: hand, before: other}
    return BuiltDeal(_dealer(options, chance, hands, [*CARDS], before), (mask_from(lead),), seat)


def _led(options: TienlenOptions, chance: Random) -> list[str]:
    """Return a combination for the seat before the bot's, often one that is hard to beat."""
    kind = chance.choice(("single", "pair", "triple", "seq", "seq", "dseq", "quad", "2s", "2s"))
    if kind in ("dseq", "quad") and not options.bombs_may_lead:
        kind = "seq"
    if kind == "2s":
        return sorted(chance.sample(_rank(_TWO), chance.choice((1, 2, 2, 3))))
    size = {"single": 1, "pair": 2, "triple": 3, "quad": 4}.get(kind)
    if size:
        return chance.sample(_rank(chance.randrange(_TWO)), size)
    length = chance.choice((3, 3, 4, 5)) if kind == "seq" else 3
    top = _ACE if chance.random() < 0.4 else chance.randrange(length - 1, _TWO)
    ranks = range(top - length + 1, top + 1)
    return [card for rank in ranks for card in chance.sample(_rank(rank), 1 + (kind == "dseq"))]


def _blocks(chance: Random, lead: Sequence[str] = ()) -> list[list[str]]:
    """Return groups of cards for a hand, the most wanted first."""
    blocks: list[list[str]] = []
    if lead and chance.random() < 0.6:  # similar to the lead: lower, longer or equal
        ranks = sorted({RANKS.index(card[0]) for card in lead})
        step = chance.choice((-1, 0, 0, 1, 1))
        each = max(1, len(lead) // len(ranks))
        free = [[card for card in _rank(rank) if card not in lead] for rank in range(len(RANKS))]
        more = chance.choice((0, 0, 1, -1))
        run = range(ranks[0] + step, ranks[-1] + step + 1 + more)
        held = [free[rank % len(RANKS)] for rank in run]
        blocks.append([card for cards in held for card in chance.sample(cards, len(cards))[:each]])
    draw = chance.random()
    if draw < 0.3:  # a run that ends with 2s
        length = chance.choice((3, 3, 4, 5, 6))
        each = chance.choice((1, 1, 1, 2)) if length < 6 else 1
        run = range(_TWO - length + 1, _TWO + 1)
        blocks.append([card for rank in run for card in _pick(chance, rank, each)])
    elif draw < 0.65:  # a double sequence
        length = chance.choice((2, 3, 3, 4, 4, 5))
        low = chance.randrange(_TWO - length + 1)
        run = range(low, low + length)
        blocks.append([card for rank in run for card in _pick(chance, rank, 2)])
    elif draw < 0.8:
        blocks.append(_rank(chance.randrange(_TWO)))
    elif draw < 0.9:  # around the corner
        length = chance.choice((3, 4, 5))
        low = _TWO - chance.randrange(length)
        run = range(low, low + length)
        blocks.append([card for rank in run for card in _pick(chance, rank % len(RANKS), 1)])
    return blocks


def _pick(chance: Random, rank: int, size: int) -> list[str]:
    return chance.sample(_rank(rank), size)


def _hand(
    chance: Random, pool: Sequence[str], size: int, blocks: Sequence[Sequence[str]]
) -> list[str]:
    """Return `size` cards of the pool: first those of the blocks, then any others."""
    wanted = [card for block in blocks for card in block if card in pool]
    rest = chance.sample(pool, len(pool))
    if chance.random() < 0.5:  # low cards besides the blocks leave little that beats a lead
        rest.sort(key=CARDS.index)
    return [*dict.fromkeys([*wanted, *rest])][:size]


def _dealer(
    options: TienlenOptions,
    chance: Random,
    hands: dict[int, list[str]],
    pool: Sequence[str],
    start: int | None,
) -> Callable[[], TienlenState]:
    """Return a function that deals the given hands, and the others from the rest."""
    taken = {card for hand in hands.values() for card in hand}
    rest = [card for card in pool if card not in taken]
    chance.shuffle(rest)
    dealt = []
    for seat in range(options.players):
        hand = hands.get(seat) or [rest.pop() for _ in range(_HAND)]
        dealt.append(mask_from(hand))
    return lambda: TienlenState.dealt(options, dealt, start)


def _wide_plays(held: list[list[str]]) -> Iterator[list[str]]:
    """Yield sets and runs of every length from 2 on, also around the corner and with 2s."""
    for cards in held:
        for size in range(1, len(cards) + 1):
            yield from map(list, combinations(cards, size))
    ranks = len(RANKS)
    for each, longest in ((1, 12), (2, 6), (3, 3)):
        for low, length in product(range(ranks), range(2, longest + 1)):
            run = [held[(low + step) % ranks] for step in range(length)]
            if all(len(cards) >= each for cards in run):
                below = [card for cards in run[:-1] for card in cards[:each]]
                yield below + run[-1][:each]
                yield below + run[-1][-each:]
    triples = [cards[:3] for cards in held if len(cards) >= 3]
    pairs = [cards[:2] for cards in held if len(cards) >= 2]
    yield from (
        [*three, *two] for three, two in product(triples, pairs) if three[0][0] != two[0][0]
    )
    for suit in "SCDH":
        flush = [card for cards in held for card in cards if card[1] == suit]
        if len(flush) >= 5:
            yield flush[:5]


def _named(mask: int) -> str:
    """Return the shape of a combination in words, naming 2s."""
    shape = SHAPES[shape_of(mask)]
    if shape.length > _LONGEST_NAMED:
        return "a longer " + ("sequence" if shape.kind == "seq" else "double sequence")
    if mask & TWOS:
        return f"{shape} of 2s" if shape.length > 1 else "a 2"
    return str(shape)


def _too_low(play: int, laid: int) -> str:
    """Return a name for a play of the right shape that is not higher than the laid one."""
    ours, theirs = cards_in(play)[-1], cards_in(laid)[-1]
    shape = SHAPES[shape_of(play)]
    what = shape.kind if shape.kind in ("seq", "dseq") else str(shape)
    words = {"seq": "sequence", "dseq": "double sequence"}
    if ours[0] == theirs[0]:
        return f"{words.get(what, what)} of the same rank, {ours[1]} on {theirs[1]}"
    if theirs[0] == "2":
        return f"lower {words.get(what, what)} on a 2"
    return f"lower {words.get(what, what)}"


def _no_combination(play: list[str]) -> str:
    """Return a name for cards that form a combination in other games, but not in this one."""
    ranks = [RANKS.index(card[0]) for card in play]
    apart = [*dict.fromkeys(ranks)]
    size = f"{min(len(apart), _LONGEST_NAMED + 1)} ranks"
    run = all((low + 1) % len(RANKS) == high for low, high in pairwise(apart))
    if not run:
        if len({card[1] for card in play}) == 1:
            return "cards of one suit"
        return "three of a kind with a pair"
    each = len(play) // len(apart)
    kind = {1: "a sequence", 2: "a double sequence"}.get(each, "a triple sequence")
    if len(play) != each * len(apart):
        return "three of a kind with a pair"
    if _TWO in apart:
        if apart[-1] != _TWO:
            return f"{kind} round the corner, {size}"
        return f"{kind} of {size} that ends with a 2"
    return f"{kind} of {size}"
