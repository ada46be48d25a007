"""The short list: one play for each length, last card, call and effect on the pile.

Such a play is built, not searched for. Between its first and its last card stand *plain* cards
of the chain, of which any number may be left out, and then cards of the *block* that closes the
play: twos, tens, or jacks that bring each other as free cards.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.games.speahx.all_plays import MOST_PLAYS, Cards, Turn, with_calls, without
from tourney_runner.games.speahx.cards import RANK, RANK_OF_JOKER
from tourney_runner.games.speahx.plays import ORDERED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tourney_runner.games.speahx.actions import Action
    from tourney_runner.games.speahx.plays import Grammar

__all__ = ["canonical_plays"]


class _Line(NamedTuple):
    """All plays with this first and this last card."""

    first: int
    last: int
    plain: Cards
    block: Cards
    least: int = 0
    """How many cards of the block there must be for the last card to be allowed."""

    def kin(self) -> int:
        """How many cards of the last card's rank such a play could hold."""
        rank = RANK[self.last]
        cards = (self.first, *self.plain, *self.block, self.last)
        return 0 if rank == RANK_OF_JOKER else sum(RANK[card] == rank for card in cards)


def canonical_plays(
    turn: Turn, grammar: Grammar, pile: Sequence[int], removes: Callable[[Cards], bool]
) -> tuple[list[Action], bool]:
    """The plays of the short list, short before long.

    Args:
        turn: The cards and rules that a play is made with.
        grammar: The grammar of the options in force.
        pile: What lies on the table.
        removes: Whether these cards, laid now, complete a four of a kind.

    Returns:
        The plays, and whether there is one of every kind. With the chain
        `previous_suit_or_rank`, where the whole order of a play decides what can still come,
        they are searched for, and some may not be found.
    """
    if turn.chain is ORDERED:
        found, complete = _searched(turn, grammar, removes)
    else:
        found, complete = _built(turn, grammar, pile, removes), True
    ordered = sorted(found, key=lambda cards: (len(cards), cards))
    return [action for cards in ordered for action in with_calls(cards)], complete


def _searched(
    turn: Turn, grammar: Grammar, removes: Callable[[Cards], bool]
) -> tuple[list[Cards], bool]:
    """Grow plays card by card, going on from the first one found of each kind only."""
    found: dict[tuple[bool, int, int], Cards] = {}
    complete = True
    level: list[tuple[Cards, Cards]] = [((card,), rest) for card, rest in turn.starts(grammar)]
    while level:
        longer: list[tuple[Cards, Cards]] = []
        for cards, rest in level:
            kind = (removes(cards), len(cards), cards[-1])
            if kind in found or len(found) >= MOST_PLAYS:
                complete = False
                continue
            found[kind] = cards
            following = grammar.after(cards, turn.chain, turn.top)
            longer += [
                ((*cards, card), without(rest, card))
                for card in dict.fromkeys(rest)
                if following >> card & 1
            ]
        level = longer
    return list(found.values()), complete


def _built(
    turn: Turn, grammar: Grammar, pile: Sequence[int], removes: Callable[[Cards], bool]
) -> list[Cards]:
    singles: list[Cards] = [(first,) for first, _ in turn.starts(grammar)]
    found: dict[tuple[bool, int, int], Cards] = {}
    in_pile: Counter[int] = Counter([RANK[card] for card in pile])
    for line in _lines(turn, grammar):
        if in_pile[RANK[line.last]] + line.kin() >= 4:
            for cards in _either_way(line):
                found.setdefault((removes(cards), len(cards), line.last), cards)
            continue
        # No play of this line completes four, so each length is looked at once.
        for count in range(line.least, len(line.plain) + len(line.block) + 1):
            kind = (False, count + 2, line.last)
            if kind not in found:
                found[kind] = _play(line, count, block_first=False)
    return singles + list(found.values())


def _either_way(line: _Line) -> Iterator[Cards]:
    """For each length a play that ends in many cards of one rank, and one that does not."""
    kin = tuple(card for card in line.plain if RANK[card] == RANK[line.last])
    others = tuple(card for card in line.plain if RANK[card] != RANK[line.last])
    for plain in (others + kin, kin + others):
        for block_first in (False, True):
            for count in range(line.least, len(line.plain) + len(line.block) + 1):
                yield _play(line._replace(plain=plain), count, block_first=block_first)


def _play(line: _Line, count: int, *, block_first: bool) -> Cards:
    """The play with `count` cards in the middle.

    Args:
        line: The plays to choose from; of the plain cards the last ones are taken.
        count: Cards between the first and the last, at least ``line.least``.
        block_first: Take as many cards of the block as possible, or as few.
    """
    _, _, plain, block, least = line
    of_block = min(count, len(block)) if block_first else max(least, count - len(plain))
    of_plain = count - of_block
    return (line.first, *plain[len(plain) - of_plain :], *block[:of_block], line.last)


def _lines(turn: Turn, grammar: Grammar) -> Iterator[_Line]:
    for first, rest in turn.starts(grammar):
        bringers = _among(grammar.brings_free_card, rest)
        if grammar.brings_free_card >> first & 1:
            for last in dict.fromkeys(rest):
                block = without(bringers, last) if last in bringers else bringers
                yield _Line(first, last, (), block)
            continue
        chain = _among(grammar.after((first,), turn.chain, turn.top), rest)
        plain = _among(~grammar.closes, chain)
        yield from _chain_lines(first, chain, plain, grammar)
        openers = _among(grammar.brings_free_card, chain)
        if openers:
            yield from _free_lines(first, rest, plain, bringers, openers)


def _chain_lines(first: int, chain: Cards, plain: Cards, grammar: Grammar) -> Iterator[_Line]:
    """Plays whose last card belongs to the chain."""
    for last in dict.fromkeys(chain):
        if not grammar.closes >> last & 1:
            yield _Line(first, last, without(plain, last), ())
        elif grammar.brings_free_card >> last & 1:
            yield _Line(first, last, plain, ())
        else:
            twins = tuple(card for card in chain if RANK[card] == RANK[last])
            yield _Line(first, last, plain, without(twins, last))


def _free_lines(
    first: int, rest: Cards, plain: Cards, bringers: Cards, openers: Cards
) -> Iterator[_Line]:
    """Plays in which a jack of the chain brings the last card."""
    for last in dict.fromkeys(rest):
        free = without(rest, last)
        opener = next((card for card in openers if card in free), None)
        if opener is not None:
            jacks = tuple(card for card in free if card in bringers)
            chain = without(plain, last) if last in plain else plain
            yield _Line(first, last, chain, (opener, *without(jacks, opener)), least=1)


def _among(mask: int, cards: Cards) -> Cards:
    return tuple(card for card in cards if mask >> card & 1)
