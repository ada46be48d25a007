"""Views of a position: for one player, for everybody, and for a viewer who sees all cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.games.base import TERMINAL, Scene, SeatView, Zone
from tourney_runner.games.speahx.cards import NAMES, PRINTED, SUIT_WORDS
from tourney_runner.games.speahx.position import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tourney_runner.games.speahx.position import Table

__all__ = ["SpeahxEvent", "SpeahxView", "names", "scene"]


# These cannot be part of a reference cycle, so the garbage collector need not track them.
class SpeahxView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Everything that one player may know of the position. Lists over players are by seat."""

    seat: int
    """The player's own seat."""
    to_move: int | None
    """The seat to act; null when the deal is over."""
    hand: tuple[str, ...]
    """The player's own cards, sorted by rank (two lowest, ace highest, joker last), then suit."""
    drawn: tuple[str, ...] = ()
    """The player's chance cards of this turn that are not laid yet, or the table card that was
    turned. With ``chance_commits: false`` they are also in `hand`."""
    drawn_size: int = 0
    """The number of such cards of the player to move."""
    pile: tuple[str, ...]
    """The pile from bottom to top. ``2S>H`` is a two of spades whose player called hearts. So the
    last character of the last card is the suit that counts now, and its first one the rank."""
    call: str | None = None
    """The suit that the top card, a two, calls."""
    reserve: int
    """The number of cards left in the reserve."""
    hand_sizes: tuple[int, ...]
    """Cards in hand by seat."""
    table_sizes: tuple[int, ...] = ()
    """Face-down table cards by seat; left out in a game without them."""
    chances: int
    """The number of times that this player may still answer ``chance``, in this turn or this deal:
    the chance cards that are left to draw, or 1 if a table card may be turned. It is 0 while a
    drawn card must be laid."""
    out: tuple[int, ...] = ()
    """The seats that have gone out, in order; the winner is first."""
    forfeited: tuple[int, ...] = ()
    """The seats that have forfeited, in order."""
    turn: int
    """The number of this turn, from 1. Drawing a chance card does not begin a new turn."""
    max_turns: int
    """The last turn of the deal (S36)."""
    dealer: int
    """The seat that dealt. The next one clockwise acted first."""


class SpeahxEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One action with its consequences, in the order in which they happen (S33a)."""

    seat: int
    """The seat that acted."""
    action: Literal["play", "pass", "chance", "forfeit"]
    """The kind of action; ``pass`` is taking the pile."""
    play: tuple[str, ...] = ()
    """The cards laid."""
    suit: str | None = None
    """The suit called with a two. It has no effect if that two is removed at once."""
    took: int = 0
    """The number of pile cards that went to the player's hand (``pass``). All lay face up."""
    table: bool = False
    """Whether the card drawn was one of the player's table cards (``chance``)."""
    removed: int = 0
    """The number of cards that left the game, from the pile or with a player who forfeits."""
    drew: int = 0
    """The number of cards that the player then drew from the reserve."""
    out: bool = False
    """Whether the player is now without cards and has a place."""
    next: int | None = None
    """The next seat to act; left out when the deal is over."""


def names(cards: Iterable[int]) -> tuple[str, ...]:
    """Return the cards as text."""
    return tuple([NAMES[card] for card in cards])


def scene(table: Table) -> Scene:
    """Return the position as a neutral picture with all cards known."""
    return Scene(
        seats=tuple(_seat_view(table, seat) for seat in range(len(table.hands))),
        zones=tuple(_zones(table)),
        to_move=None if table.seat == TERMINAL else table.seat,
    )


def _seat_view(table: Table, seat: int) -> SeatView:
    state: Literal["playing", "out", "forfeited"] = "playing"
    if seat in table.forfeited:
        state = "forfeited"
    elif seat in table.out:
        state = "out"
    face_down = len(table.face_down[seat])
    return SeatView(
        seat=seat,
        cards=len(table.hands[seat]) + (len(table.drawn) if seat == table.seat else 0),
        state=state,
        place=places(table)[seat] if state != "playing" or table.seat == TERMINAL else None,
        note=f"{face_down} face down" if face_down else "",
    )


def _zones(table: Table) -> Iterator[Zone]:
    call = NAMES[table.top()].partition(">")[2] if table.pile else ""
    pile = names([PRINTED[card] for card in table.pile])
    note = f"{SUIT_WORDS[call]} called" if call else ""
    yield Zone(name="pile", cards=pile, layout="stack", note=note)
    yield Zone(name="reserve", cards=names(table.reserve), shown_to="nobody", layout="stack")
    for seat, hand in enumerate(table.hands):
        yield Zone(name="hand", cards=names(hand), seat=seat, shown_to="owner", layout="fan")
        if table.drawn and seat == table.seat:
            yield Zone(name="drawn", cards=names(table.drawn), seat=seat, shown_to="owner")
        if table.face_down[seat]:
            cards = names(table.face_down[seat])
            yield Zone(name="table cards", cards=cards, seat=seat, shown_to="nobody")
