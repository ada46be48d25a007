"""A Speahx position as plain data, the effect of four of a kind, and the places at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.games.base import TERMINAL, shuffled
from tourney_runner.games.speahx.cards import EMPTY, RANK, RANK_OF_JOKER, pack
from tourney_runner.games.speahx.options import HAND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.speahx.options import SpeahxOptions

__all__ = ["Table", "deal", "four_of_a_kind", "places", "points"]


@dataclass(slots=True)
class Table:
    """A position. Cards are numbers of `games.speahx.cards`; lists of players are in seat order.

    The position is not checked for being reachable, so any position can be set up.
    """

    hands: list[list[int]]
    """The hands, each sorted; empty for players who are out."""
    reserve: list[int]
    """The reserve. The top card is last."""
    dealer: int
    seat: int
    """The seat to act, or `TERMINAL`."""
    pile: list[int] = field(default_factory=list)
    """The pile from bottom to top, twos with their calls."""
    drawn: list[int] = field(default_factory=list)
    """Cards that the player to act has drawn or turned in this turn and not laid."""
    face_down: list[list[int]] = field(default_factory=list)
    """The table cards (S38). The last one is turned first."""
    out: list[int] = field(default_factory=list)
    """Seats that have their places, the winner first."""
    forfeited: list[int] = field(default_factory=list)
    """Seats that left the deal, the earliest first."""
    chances: list[int] = field(default_factory=list)
    """Chance cards drawn in this deal."""
    turns: int = 0
    """Plays and passes so far (S36)."""
    in_play: list[bool] = field(default_factory=list)
    """Whether each seat is neither out nor forfeited; computed if not given."""

    def __post_init__(self) -> None:
        seats = range(len(self.hands))
        self.face_down = self.face_down or [[] for _ in seats]
        self.chances = self.chances or [0 for _ in seats]
        self.in_play = self.in_play or [
            seat not in self.out and seat not in self.forfeited for seat in seats
        ]

    def clone(self) -> Table:
        """Return an independent copy."""
        return Table(
            [hand[:] for hand in self.hands],
            self.reserve[:],
            self.dealer,
            self.seat,
            self.pile[:],
            self.drawn[:],
            [cards[:] for cards in self.face_down],
            self.out[:],
            self.forfeited[:],
            self.chances[:],
            self.turns,
            self.in_play[:],
        )

    def top(self) -> int:
        """Return the top card of the pile, or `EMPTY`."""
        return self.pile[-1] if self.pile else EMPTY

    def pass_turn(self, *, again: bool = False) -> int | None:
        """Pass the turn to the next player clockwise, or to the same one again if still in play.

        The last player with cards takes the last place and ends the deal (R35).

        Returns:
            The seat to act, or None when the deal is over.
        """
        if self.in_play.count(True) == 1:
            self.out.append(self.in_play.index(True))
            self.seat = TERMINAL
            return None
        if not again or not self.in_play[self.seat]:
            self.seat = (self.seat + 1) % len(self.hands)
            while not self.in_play[self.seat]:
                self.seat = (self.seat + 1) % len(self.hands)
        return self.seat


def deal(options: SpeahxOptions, seed: int, dealer: int) -> Table:
    """Shuffle and deal one card at a time: hands, then table cards. The rest is the reserve.

    The player left of the dealer has the first turn (R14, R15, R17, S38).
    """
    n = options.players
    cards = shuffled(pack(options.deck_count(), jokers=options.jokers), seed)
    in_hands = HAND * n
    dealt = in_hands + options.table_cards * n
    return Table(
        hands=[sorted(cards[seat:in_hands:n]) for seat in range(n)],
        face_down=[cards[in_hands + seat : dealt : n] for seat in range(n)],
        reserve=cards[dealt:],
        dealer=dealer,
        seat=(dealer + 1) % n,
    )


def four_of_a_kind(pile: Sequence[int], played: int, scope: str) -> Sequence[int]:
    """Return the positions of the four cards in the pile, bottom first; empty without four.

    Only the rank of the last card laid counts, and jokers have none. Of more than four cards, the
    topmost four are returned (S25-S27).

    Args:
        pile: The pile with the play on it.
        played: The number of its top cards that were laid in this play.
        scope: The option `quad_scope`.
    """
    size = len(pile)
    if size < 4 or scope == "off":
        return ()
    rank = RANK[pile[-1]]
    if rank == RANK_OF_JOKER:
        return ()
    if scope == "anywhere":
        places = [place for place, card in enumerate(pile) if RANK[card] == rank]
        return places[-4:] if len(places) >= 4 else ()
    if scope == "single_play" and played < 4:
        return ()
    if RANK[pile[-2]] == rank and RANK[pile[-3]] == rank and RANK[pile[-4]] == rank:
        return range(size - 4, size)
    return ()


def places(table: Table) -> tuple[int, ...]:
    """Return the place of each seat, from 1.

    Players who went out come first. If the turns ran out, the remaining players follow by the
    number of their cards, and equal numbers share a place (S36). Forfeiters are last, the
    earliest lowest (S39).
    """
    players = len(table.hands)
    result = [0] * players
    for place, seat in enumerate(table.out, start=1):
        result[seat] = place
    for lost, seat in enumerate(table.forfeited):
        result[seat] = players - lost
    cards = {
        seat: len(table.hands[seat]) + len(table.face_down[seat])
        for seat in range(players)
        if not result[seat]
    }
    for seat, count in cards.items():
        fewer = sum(other < count for other in cards.values())
        result[seat] = len(table.out) + fewer + 1
    return tuple(result)


def points(table: Table, by_place: Sequence[float]) -> tuple[float, ...]:
    """Return the points of each seat. Seats with a shared place share points; forfeiters get none.

    Args:
        table: The finished deal.
        by_place: The points by place, from first to last.
    """
    taken = places(table)
    result = []
    for seat, place in enumerate(taken):
        shared = by_place[place - 1 : place - 1 + taken.count(place)]
        result.append(0.0 if seat in table.forfeited else sum(shared) / len(shared))
    return tuple(result)
