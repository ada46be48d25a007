"""Answers, events and observations of Tien Len, as bots write and see them."""

from __future__ import annotations

import msgspec

from tourney_runner.games.base import Answer
from tourney_runner.games.tienlen.cards import InstantWin, Kind

__all__ = ["Table", "TienlenAnswer", "TienlenEvent", "TienlenObservation", "describe"]


class TienlenAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Either `play` or ``"pass": true``."""

    play: tuple[str, ...] | None = None
    """The cards to lay, in any order."""
    pass_: bool = msgspec.field(default=False, name="pass")
    """Lay no cards; not allowed when leading."""


# These cannot be part of a reference cycle, so the garbage collector need not track them.
class TienlenEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One action with its consequences, as all players see it."""

    seat: int
    """The seat that acted."""
    play: tuple[str, ...] | None = None
    """The cards laid, lowest first."""
    pass_: bool = msgspec.field(default=False, name="pass")
    """Whether the player laid nothing."""
    forfeit: bool = False
    """Whether the player left the deal; the cards are not shown."""
    out: int | None = None
    """The place, from 1, of a player who has laid the last card."""
    cleared: bool = False
    """Whether the trick is over: the table is empty and all may play again (H16)."""
    next: int | None = None
    """The next seat to act; left out when the deal is over."""


class Table(msgspec.Struct, frozen=True, gc=False):
    """The combination to beat."""

    cards: tuple[str, ...]
    """Its cards, lowest first."""
    by: int
    """The seat that laid it. Its player may have gone out since."""
    kind: Kind
    """Its kind. A higher one of the same kind and length beats it, or a bomb."""


class TienlenObservation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Everything that a player may know of the position, except the cards of earlier tricks."""

    seat: int
    """The player's own seat."""
    hand: tuple[str, ...]
    """The player's own cards, lowest first."""
    table: Table | None
    """The combination to beat; null when the player to act leads."""
    hand_sizes: tuple[int, ...]
    """Cards in hand by seat; 0 for players who are out or have forfeited."""
    passed: tuple[int, ...]
    """The seats that may not play again in this trick (H25)."""
    out: tuple[int, ...]
    """The seats that have gone out, in order; the winner is first."""
    forfeited: tuple[int, ...]
    """The seats that have forfeited, in order."""
    turn: int | None
    """The seat to act; null when the deal is over."""
    must_play: str | None
    """The card that this player's next play must contain (H10); null if there is none."""
    instant_win: InstantWin | None = None
    """The player who won with the cards as dealt, and the reason (H24); left out if none."""


def describe(event: TienlenEvent) -> str:
    """Return a line of plain English about an event."""
    if event.forfeit:
        text = f"seat {event.seat} forfeits"
    elif event.play is None:
        text = f"seat {event.seat} passes"
    else:
        text = f"seat {event.seat} plays {' '.join(event.play)}"
    if event.out is not None:
        text += f" and is out in place {event.out}"
    if event.next is None:
        return f"{text}; the deal is over"
    if event.cleared:
        return f"{text}; the table is cleared and seat {event.next} leads"
    return text
