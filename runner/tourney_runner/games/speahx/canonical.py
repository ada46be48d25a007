"""The short list of plays: one for each length, last card, call and effect on the pile.

These plays are built, not searched for. Between its first and its last card, a play has *plain*
cards of the chain, any of which may be left out, and then cards of the *block* that closes it:
twos, tens, or jacks that bring each other as free cards. All plays with the same first and last
card form a *line*. A line is examined only for lengths that no earlier line had.

Only the chain `previous_suit_or_rank`, in which the whole order of a play decides what may follow,
needs a search.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.games.speahx.cards import (
    ALL_CARDS,
    JACK,
    RANK,
    RANK_OF_JOKER,
    SAME_RANK,
    TEN,
    TWO,
)
from tourney_runner.games.speahx.plays import (
    MOST_PLAYS,
    ORDERED,
    TOO_MANY,
    Cards,
    Turn,
    actions_of,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.speahx.actions import Action
    from tourney_runner.games.speahx.plays import Grammar

__all__ = ["MOST_BYTES", "Removal", "canonical_plays"]

MOST_BYTES = 60_000
"""The maximum size of a list as JSON answers, so that the whole request stays below 64 KB."""

_TOO_LONG = f"the plays take more than {MOST_BYTES} bytes; the longest are left out"
_TOO_MANY_ORDERS = "the cards can be laid in too many orders; some longer plays are not listed"

_ALL_ORDERS = 8
"""Hands of up to this many cards are searched completely, longer ones in part."""
_MOST_STEPS = 2500
"""The maximum number of cards that one search lays. It takes about 2 ms."""

_ALWAYS_FIT, _ALWAYS_FIT_CARDS = MOST_PLAYS // 4, 6
"""This many plays of at most this many cards always fit into a list, including calls."""

_STAGES = (12, 24, 500)
"""The lengths up to which plays are examined, one after the other until the list is full."""

_TWOS, _TENS, _JACKS = (SAME_RANK[rank << 2] for rank in (TWO, TEN, JACK))
_BYTES_OF_PLAY, _BYTES_OF_CARD, _BYTES_OF_CALL = (
    len('{"play":[]},'),
    len('"7H",'),
    len(',"suit":"H"'),
)


class Removal:
    """The plays that complete a four of a kind on a certain pile.

    Args:
        pile: The cards on the table.
        scope: The option `quad_scope`.
    """

    def __init__(self, pile: Sequence[int], scope: str) -> None:
        self.scope = scope
        ranks = [RANK[card] for card in pile]
        self.in_pile = [0] * (RANK_OF_JOKER + 1)
        """The number of cards of each rank in the pile."""
        for rank in ranks:
            self.in_pile[rank] += 1
        self.top_rank = ranks[-1] if ranks else RANK_OF_JOKER
        self.top_run = 0
        """The number of consecutive cards of that rank at the top of the pile."""
        if scope == "top_run" and self.top_rank != RANK_OF_JOKER:
            for rank in reversed(ranks):
                if rank != self.top_rank:
                    break
                self.top_run += 1

    def many(self, turn: Turn) -> tuple[int, int]:
        """Return two sets of cards, chosen by the number of cards of their rank.

        Returns:
            The cards of ranks with four cards in pile and hand, and those with which a play could
            complete four.
        """
        held = [0] * (RANK_OF_JOKER + 1)
        for card in (*turn.hand, *turn.drawn):
            held[RANK[card]] += 1
        many = special = 0
        for rank in range(RANK_OF_JOKER):
            if held[rank] and held[rank] + self.in_pile[rank] >= 4:
                many |= SAME_RANK[rank << 2]
                run = self.top_run if rank == self.top_rank else 0
                if self.scope == "anywhere" or held[rank] + run >= 4:
                    special |= SAME_RANK[rank << 2]
        return many, special if self.scope != "off" else 0

    def possible(self, fan: _Fan) -> int:
        """Return the last cards with which lines of a fan could complete four.

        Cards of another rank must have the first one's suit. There are at most three of them, one
        in each deck, so only the first card's rank can occur four times, or that of the jacks
        that close the play.
        """
        return SAME_RANK[fan.first] if fan.openers is None else _JACKS

    def completes(self, cards: Cards) -> bool:
        """Return whether laying these cards now completes a four of a kind (S25-S27)."""
        rank = RANK[cards[-1]]
        if rank == RANK_OF_JOKER or self.scope == "off":
            return False
        if self.scope == "anywhere":
            return self.in_pile[rank] + sum([RANK[card] == rank for card in cards]) >= 4
        tail = 0
        for card in reversed(cards):
            if RANK[card] != rank:
                return tail >= 4
            tail += 1
        return tail + (self.top_run if rank == self.top_rank else 0) >= 4

    def lengths(self, line: _Line, lengths: int) -> tuple[int, int]:
        """Return the lengths at which a line may complete four, and those at which it may not.

        Both are bit sets and may contain extra lengths.

        Args:
            line: A line whose last card is among the `possible` ones.
            lengths: The lengths of its plays.
        """
        _, last, plain, block, least = line
        rank = RANK[last]
        kin = line.kin()
        if self.scope == "anywhere":
            missing = 4 - self.in_pile[rank]
            others = 2 + len(plain) + len(block) - kin
            fours = lengths & -1 << max(missing, 1) if kin >= missing else 0
            return fours, lengths & (1 << max(1, others + missing)) - 1
        if least:  # jacks close the play, after plain cards
            return lengths & -1 << 5, lengths & (2 << 4 + len(plain)) - 1
        run = self.top_run if rank == self.top_rank else 0
        fours = lengths & -1 << max(1, 4 - run)
        if kin == 2 + len(plain) + len(block):
            return fours, lengths & ~fours
        return fours, lengths


class _Fan(NamedTuple):
    """All lines with this first card and any last card."""

    first: int
    plain: Cards
    """The plain cards, possibly including the last one."""
    block: Cards = ()
    """The cards of the block, possibly including the last one."""
    openers: Cards | None = None
    """The cards, one of which must start the block; None if the block may be empty."""

    def line(self, last: int) -> _Line:
        """Return the line with that last card, removing it from the other cards."""
        first, plain, block, openers = self
        if last in plain:
            plain = without(plain, last)
        if last in block:
            block = without(block, last)
        if openers is None:
            return _Line(first, last, plain, block)
        opener = openers[0] if openers[0] in block else openers[1]
        return _Line(first, last, plain, (opener, *without(block, opener)), 1)


class _Line(NamedTuple):
    """All plays with this first and this last card."""

    first: int
    last: int
    plain: Cards
    block: Cards
    least: int = 0
    """The number of block cards that the last card requires."""

    def kin(self) -> int:
        """Return how many cards of the last card's rank a play could contain."""
        rank = RANK[self.last]
        cards = (self.first, *self.plain, *self.block, self.last)
        return sum([RANK[card] == rank for card in cards])

    def play(self, length: int, *, block_first: bool = False) -> Cards:
        """Return the play of that length, using the last of the plain cards.

        Args:
            length: The number of cards, at least 2 more than `least`.
            block_first: Whether to use as many block cards as possible, or as few.
        """
        first, last, plain, block, least = self
        count = length - 2
        of_block = min(count, len(block)) if block_first else max(least, count - len(plain))
        of_plain = count - of_block
        return (first, *plain[len(plain) - of_plain :], *block[:of_block], last)

    def build(self, lengths: list[int], plays: list[Cards]) -> None:
        """Add the plays of some lengths, each with as few block cards as possible."""
        first, last, plain, block, least = self
        size = len(plain) + 2
        head, tail = (first,), (*block[:least], last)
        for length in lengths:
            if length <= size + least:
                plays.append(head + plain[size + least - length :] + tail)
            else:
                plays.append(head + plain + block[: length - size] + (last,))

    def sorted_by_kin(self) -> tuple[_Line, _Line]:
        """Return two versions, with plain cards of the last card's rank after and before others."""
        first, last, plain, block, least = self
        same_rank = SAME_RANK[last]
        kin = tuple([card for card in plain if same_rank >> card & 1])
        if not kin or len(kin) == len(plain):
            return self, self
        others = tuple([card for card in plain if not same_rank >> card & 1])
        return (
            _Line(first, last, others + kin, block, least),
            _Line(first, last, kin + others, block, least),
        )


def canonical_plays(
    turn: Turn, grammar: Grammar, pile: Sequence[int], scope: str
) -> tuple[list[Action], str]:
    """Return the short list of plays, short before long.

    Args:
        turn: The cards and rules with which a play is made.
        grammar: The grammar of the options in force.
        pile: The cards on the table.
        scope: The option `quad_scope`.

    Returns:
        The plays, and the reason why some kinds are missing; an empty text if none is.
    """
    if not turn.hand and not turn.drawn:
        return [], ""
    removal = Removal(pile, scope)
    if turn.chain is ORDERED:
        search = _Search(turn, grammar, removal)
        plays, reason = _shortest(search.plays())
        reason = reason or search.reason
    else:
        # Long hands have so many plays that the list is cut before their long ones, which are
        # examined only if the short ones leave room.
        for longest in _STAGES if len(turn.hand) > 60 else _STAGES[-1:]:
            plays, reason = _shortest(_Lines(turn, grammar, removal, longest).plays())
            if reason:
                break
    return actions_of(plays), reason


def _shortest(plays: list[Cards]) -> tuple[list[Cards], str]:
    """Sort plays, short before long, and leave out those that do not fit into a list."""
    plays.sort()
    plays.sort(key=len)
    if len(plays) <= _ALWAYS_FIT and (not plays or len(plays[-1]) <= _ALWAYS_FIT_CARDS):
        return plays, ""
    room, room_in_bytes = MOST_PLAYS, MOST_BYTES
    for number, cards in enumerate(plays):
        size = _BYTES_OF_PLAY + _BYTES_OF_CARD * len(cards)
        if _TWOS >> cards[-1] & 1:
            room -= 4
            room_in_bytes -= 4 * (size + _BYTES_OF_CALL)
        else:
            room -= 1
            room_in_bytes -= size
        if room < 0 or room_in_bytes < 0:
            return plays[:number], TOO_MANY if room < 0 else _TOO_LONG
    return plays, ""


def _short_ones(lines: list[tuple[_Line, list[int]]], most: int) -> list[tuple[_Line, list[int]]]:
    """Leave out lengths that cannot be listed because there are too many shorter plays."""
    counts = Counter([length for _, lengths in lines for length in lengths])
    for longest in sorted(counts):
        most -= counts[longest]
        if most < 0:
            return [(line, [it for it in lengths if it <= longest]) for line, lengths in lines]
    return lines


class _Lines:
    """The plays of all chains in which the first card decides what may follow.

    Args:
        turn: The cards and rules with which a play is made.
        grammar: The grammar of the options in force.
        removal: Tells which plays complete a four of a kind.
        longest: The maximum number of cards of the plays to examine.
    """

    def __init__(self, turn: Turn, grammar: Grammar, removal: Removal, longest: int) -> None:
        self._turn = turn
        self._grammar = grammar
        self._removal = removal
        self._longest = longest
        size = min(longest, len(turn.hand) + 1) + 1
        # Sets of last cards by length: of found plays that do not complete a four of a kind, and
        # of those that do.
        self._found = [0] * size
        self._found_four = [0] * size
        self._lines: list[tuple[_Line, list[int]]] = []
        self._built: list[Cards] = []
        self._many, self._special = removal.many(turn)

    def plays(self) -> list[Cards]:
        """Return one play of each kind.

        If the list will be cut, its longest plays may be missing.
        """
        grammar, turn = self._grammar, self._turn
        brings, chain, top = grammar.brings_free_card, turn.chain, turn.top
        singles = turn.starts(grammar)
        hand = turn.hand
        held = _set_of(hand)
        for first in singles:
            following = ALL_CARDS
            if not brings >> first & 1:
                following = chain(first, first, top)
                if grammar.closes >> first & 1:
                    following &= SAME_RANK[first]
            if not following & held or (
                following & held == 1 << first and not turn.drawn and hand.count(first) == 1
            ):
                continue
            rest = without(turn.holder(first), first)
            if brings >> first & 1:
                self._bring(first, rest, (), None)
            else:
                self._link(first, rest, tuple([it for it in rest if following >> it & 1]))
        plays = [*[(card,) for card in singles], *self._built]
        lines = self._lines
        if len(plays) + sum([len(lengths) for _, lengths in lines]) > MOST_PLAYS:
            lines = _short_ones(lines, MOST_PLAYS - len(singles))
        for line, lengths in lines:
            line.build(lengths, plays)
        return plays

    def _link(self, first: int, rest: Cards, chain: Cards) -> None:
        """Examine the plays that begin with a card and continue with cards of its chain."""
        brings, closes = self._grammar.brings_free_card, self._grammar.closes
        plain = tuple([card for card in chain if not closes >> card & 1])
        linked = _set_of(chain)
        self._look(_Fan(first, plain), linked & ~closes, 1 + len(plain))
        if linked & closes:
            for rank in (_TWOS, _TENS):
                if linked & rank:
                    block = _among(rank, chain)
                    longest = 1 + len(plain) + len(block)
                    self._look(_Fan(first, plain, block), linked & rank, longest)
            if linked & brings:
                self._look(_Fan(first, plain), linked & brings, 2 + len(plain))
                self._bring(first, rest, plain, _among(brings, chain))

    def _bring(self, first: int, rest: Cards, plain: Cards, openers: Cards | None) -> None:
        """Examine the plays in which jacks or jokers bring the last card.

        Args:
            first: The first card.
            rest: The cards that may follow it.
            plain: The plain cards of its chain.
            openers: The jacks of the chain, or None if the first card itself brings others.
        """
        fan = _Fan(first, plain, _among(self._grammar.brings_free_card, rest), openers)
        lasts = _set_of(rest)
        inside = _set_of((*plain, *fan.block))
        longest = 2 + len(plain) + len(fan.block)
        if openers is not None and len(openers) == 1 and rest.count(openers[0]) == 1:
            lasts &= ~(1 << openers[0])
        self._look(fan, lasts & ~inside, longest)
        self._look(fan, lasts & inside, longest - 1)

    def _look(self, fan: _Fan, lasts: int, longest: int) -> None:
        """Find the kinds of plays that some lines of a fan add.

        Args:
            fan: The fan.
            lasts: The set of the lines' last cards.
            longest: The number of cards of the longest play of these lines.
        """
        if not lasts:
            return
        longest = min(longest, self._longest)
        shortest = 2 if fan.openers is None else 3
        special = lasts & self._special
        if special and self._removal.scope != "anywhere":
            special &= self._removal.possible(fan)
        for last, lengths in self._new_kinds(lasts ^ special, shortest, longest).items():
            line = fan.line(last)
            if self._many >> last & 1 and self._removal.in_pile[RANK[last]] + line.kin() >= 4:
                line, _ = line.sorted_by_kin()
            self._lines.append((line, lengths))
        while special:
            last = special.bit_length() - 1
            special ^= 1 << last
            if fan.openers is None or self._lacks(last, longest, 4 + len(fan.plain)):
                self._look_closely(fan.line(last), (2 << longest) - (1 << shortest))

    def _new_kinds(self, lasts: int, shortest: int, longest: int) -> dict[int, list[int]]:
        """Return the new lengths of plays that do not complete four, by last card."""
        found = self._found
        kinds: dict[int, list[int]] = {}
        for length in range(longest, shortest - 1, -1):
            missing = new = lasts & ~found[length]
            found[length] |= new
            while new:
                last = new.bit_length() - 1
                new ^= 1 << last
                if last in kinds:
                    kinds[last].append(length)
                else:
                    kinds[last] = [length]
            if length > 3 and (shortest == 3 or not lasts & ~found[2]):
                # Lines have all lengths from 3 on, unless a four of a kind is involved. A last
                # card that already has this length also has the shorter ones.
                lasts &= missing | self._special
                if not lasts:
                    break
        return kinds

    def _lacks(self, last: int, longest: int, longest_other: int) -> bool:
        """Return whether a kind of play that ends in a jack is still missing."""
        if self._removal.scope == "anywhere":
            return True
        others = self._found[3 : min(longest, longest_other) + 1]
        fours = self._found_four[5 : longest + 1]
        return not all(found >> last & 1 for found in (*others, *fours))

    def _look_closely(self, line: _Line, lengths: int) -> None:
        """Examine a line whose plays may complete a four of a kind."""
        last, removal = line.last, self._removal
        bit = 1 << last
        fours, others = removal.lengths(line, lengths)
        found, found_four = self._found, self._found_four
        wanted = [
            length
            for length in range(lengths.bit_length())
            if (others >> length & 1 and not found[length] & bit)
            or (fours >> length & 1 and not found_four[length] & bit)
        ]
        if not wanted:
            return
        if removal.in_pile[RANK[last]] + line.kin() < 4:
            for length in wanted:
                found[length] |= bit
            self._lines.append((line, wanted))
            return
        for version in line.sorted_by_kin():
            for block_first in (False, True):
                for length in wanted:
                    if (not (others >> length & 1) or found[length] & bit) and (
                        not (fours >> length & 1) or found_four[length] & bit
                    ):
                        continue
                    cards = version.play(length, block_first=block_first)
                    which = found_four if removal.completes(cards) else found
                    if not which[length] & bit:
                        which[length] |= bit
                        self._built.append(cards)


def _among(mask: int, cards: Cards) -> Cards:
    return tuple([card for card in cards if mask >> card & 1])


def _set_of(cards: Sequence[int]) -> int:
    found = 0
    for card in cards:
        found |= 1 << card
    return found


class _Search:
    """The plays of the chain in which each card must share suit or rank with the one before.

    Plays grow card by card. Of two plays with the same cards and the same last card only one is
    kept, since the same cards may follow.

    Args:
        turn: The cards and rules with which a play is made.
        grammar: The grammar of the options in force.
        removal: Tells which plays complete a four of a kind.
    """

    def __init__(self, turn: Turn, grammar: Grammar, removal: Removal) -> None:
        self._cards = tuple(sorted(turn.hand))
        self._grammar = grammar
        self._removal = removal
        self._fits = grammar.fits[turn.top]
        self.reason = ""
        places = range(len(self._cards))
        self._after = [self._places_after(place) for place in places]
        self._twins = sum(
            [1 << place for place in places[1:] if self._cards[place] == self._cards[place - 1]]
        )
        """The places of cards that have a twin just before them, which is laid first."""

    def _places_after(self, place: int) -> int:
        cards = self._cards
        following = self._grammar.after((cards[place],), ORDERED, 0)
        return sum([1 << other for other, card in enumerate(cards) if following >> card & 1]) & ~(
            1 << place
        )

    def plays(self) -> list[Cards]:
        """Return one play of each kind that was found."""
        found: dict[tuple[bool, int, int], Cards] = {}
        cards, completes, brings = (
            self._cards,
            self._removal.completes,
            self._grammar.brings_free_card,
        )
        fours = self._removal.scope not in ("off", "anywhere") and len(cards) >= 4
        level: dict[tuple[int, int, int], Cards] = {}
        for place, card in enumerate(cards):
            if self._fits >> card & 1 and not self._twins >> place & 1:
                found[False, 1, card] = (card,)
                level[1 << place, place, 1] = (card,)
        steps = _MOST_STEPS
        width = steps if len(cards) <= _ALL_ORDERS else max(2, steps // len(cards) ** 3)
        length = 1
        while level:
            length += 1
            longer: dict[tuple[int, int, int], Cards] = {}
            kept = Counter[int]()
            for (used, last, run), play in level.items():
                free = self._after[last] & ~used
                free &= ~self._twins | used << 1
                while free:
                    bit = free & -free
                    free ^= bit
                    place = bit.bit_length() - 1
                    card = cards[place]
                    steps -= 1
                    if steps < 0:
                        self.reason = _TOO_MANY_ORDERS
                        return [*found.values()]
                    same = run + 1 if fours and RANK[card] == RANK[cards[last]] else 1
                    key = (used | bit, place, min(same, 4))
                    if key in longer:
                        continue
                    grown = (*play, card)
                    found.setdefault((completes(grown), length, card), grown)
                    if brings >> cards[last] & 1 and not brings >> card & 1:
                        continue
                    if kept[place] >= width:
                        self.reason = _TOO_MANY_ORDERS
                        continue
                    kept[place] += 1
                    longer[key] = grown
            level = longer
        return [*found.values()]
