"""Answers, events and observations of Tien Len, as bots write and see them."""

from __future__ import annotations

import msgspec

from tourney_runner.games.base import Answer
from tourney_runner.games.tienlen.combos import Kind
from tourney_runner.games.tienlen.instant_wins import InstantWin

__all__ = ["Table", "TienlenAnswer", "TienlenEvent", "TienlenObservation", "describe"]


class TienlenAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Either `play` or ``"pass": true``."""

    play: tuple[str, ...] | None = None
    """The cards to lay, in any order."""
    pass_: bool = msgspec.field(default=False, name="pass")
    """Lay nothing; not when leading."""


# These cannot be part of a reference cycle, so the garbage collector need not track them.
class TienlenEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One action as everybody sees it, with what follows from it."""

    seat: int
    """Who acted."""
    play: tuple[str, ...] | None = None
    """The cards laid, lowest first."""
    pass_: bool = msgspec.field(default=False, name="pass")
    """The player laid nothing."""
    forfeit: bool = False
    """The player left the deal; his cards are not shown."""
    out: int | None = None
    """The place, from 1, that the player reached by laying his last cards."""
    cleared: bool = False
    """The trick is over: the table is empty and everybody may play again (H16)."""
    next: int | None = None
    """The seat to act; absent when the deal is over."""


class Table(msgspec.Struct, frozen=True, gc=False):
    """The combination to beat."""

    cards: tuple[str, ...]
    """Lowest first."""
    by: int
    """The seat that laid it; its player may have gone out since."""
    kind: Kind
    """What lies there; only the same, higher and of the same length, beats it, or a bomb."""


class TienlenObservation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """All that a player may know of the position, but for the cards laid in earlier tricks."""

    seat: int
    """Whose view it is."""
    hand: tuple[str, ...]
    """The player's own cards, lowest first."""
    table: Table | None
    """What is to be beaten; null when the player to act leads."""
    hand_sizes: tuple[int, ...]
    """By seat; 0 for players who are out or have forfeited."""
    passed: tuple[int, ...]
    """The seats that may not play again in this trick (H25)."""
    out: tuple[int, ...]
    """The seats that have gone out, the first one first."""
    forfeited: tuple[int, ...]
    """The seats that have left the deal, the first one first."""
    turn: int | None
    """The seat to act; null when the deal is over."""
    must_play: str | None
    """The card that this player's next play has to contain (H10)."""
    instant_win: InstantWin | None = None
    """Who won as soon as the cards were dealt, and by what (H24); absent when nobody did."""


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
