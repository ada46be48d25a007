"""Positions in a terminal: cards in colour, and hidden cards as a number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from tourney_runner.games.base import Scene, SeatView, Zone

__all__ = ["SUITS", "Artist", "cards_text"]

SUITS = {"S": "♠", "C": "♣", "D": "♦", "H": "♥"}
_STYLES = {"S": "bold", "C": "bold green", "D": "bold blue", "H": "bold red"}
"""Four colours, so that suits are easy to distinguish; the signs differ as well."""
_CARD = re.compile(r"(\b(?:[2-9TJQKA][SCDH](?:>[SCDH])?|JK)(?![\w>]))")
_SEAT = re.compile(r"\bseat (\d+)\b( [a-z]+s\b)?")
_STACK_SHOWN = 10
"""The number of top cards shown of a stack."""


def cards_text(cards: Sequence[str], *, signs: bool = True) -> Text:
    """Return cards in their colours.

    Args:
        cards: Cards as in messages (``3S``, ``TH``, ``2H>S``, ``JK``); other text is not changed.
        signs: Whether the terminal can show the signs of the suits.
    """
    return Text(" ").join(_card(card, signs=signs) for card in cards)


def _card(card: str, *, signs: bool) -> Text:
    """Return a card as people write it: ``10♣`` for ``TC``."""
    name, _, call = card.partition(">")
    rank, suit = name[:-1], name[-1:]
    if suit not in SUITS or not rank:
        return Text("joker" if card == "JK" else card, style="bold magenta")
    shown = SUITS if signs else {letter: letter for letter in SUITS}
    text = Text(f"{'10' if rank == 'T' else rank}{shown[suit]}", style=_STYLES[suit])
    return text.append(f" ({shown[call]} called)", style="not bold") if call else text


class Artist:
    """An artist that draws the scenes of a deal.

    Args:
        names: The players by seat.
        seat: The seat whose view is drawn; None to draw all cards.
        signs: Whether the terminal can show the signs of the suits.
    """

    def __init__(self, names: Sequence[str], seat: int | None, *, signs: bool) -> None:
        self._names = names
        self._seat = seat
        self._signs = signs

    def line(self, text: str) -> Text:
        """Return a line of a game with the players' names, and its cards in their colours."""
        shown = Text()
        for part in _CARD.split(text):  # before the names: one of them may look like a card
            is_card = _CARD.fullmatch(part)
            shown.append_text(_card(part, signs=self._signs) if is_card else Text(self.named(part)))
        return shown

    def named(self, text: str) -> str:
        """Return a line of a game with the players' names instead of their seats."""
        return _SEAT.sub(self._name, text)

    def _name(self, found: re.Match[str]) -> str:
        number, verb = int(found[1]), found[2] or ""
        if number >= len(self._names):
            return found[0]
        name = self._names[number]
        return f"{name}{_second_person(verb) if name == 'you' else verb}"

    def draw(self, scene: Scene) -> RenderableType:
        """Return the drawing of a position."""
        return Group(self._players(scene), Text(), *self._zones(scene))

    def _players(self, scene: Scene) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for view in scene.seats:
            moves = view.seat == scene.to_move
            style = "bold" if view.seat == self._seat else ""
            table.add_row(
                Text("→" if self._signs and moves else ">" if moves else " "),
                Text(self._names[view.seat], style=style),
                Text(f"{view.cards} card{'' if view.cards == 1 else 's'}"),
                Text(_standing(view), style="dim"),
            )
        return table

    def _zones(self, scene: Scene) -> Iterator[Text]:
        middle = [zone for zone in scene.zones if zone.seat is None]
        seats = [zone for zone in scene.zones if zone.seat is not None]
        own = [zone for zone in seats if zone.seat == self._seat]
        for zone in [*middle, *(own if self._seat is not None else seats)]:
            if zone.cards or zone.note or zone.seat is None:
                yield self._zone(zone)

    def _zone(self, zone: Zone) -> Text:
        title = zone.name
        if zone.seat is not None:
            title = f"your {title}" if zone.seat == self._seat else self._whose(zone)
        text = Text(f"{title}: ", style="dim")
        if not zone.cards and zone.note:  # a position in words
            lines = self.named(zone.note).rstrip() if self._sees(zone) else "hidden"
            return text.append(f"\n{lines}" if "\n" in lines else lines, style="not dim")
        if not zone.cards:
            text.append("empty", style="not dim")
        elif self._sees(zone):
            text.append_text(self._shown(zone))
        else:
            text.append(f"{len(zone.cards)} face down", style="not dim")
        if zone.note:
            text.append(f"  ({self.named(zone.note)})")
        return text

    def _whose(self, zone: Zone) -> str:
        name = self._names[zone.seat] if zone.seat is not None else ""
        return name if zone.name == "hand" else f"{name}'s {zone.name}"

    def _sees(self, zone: Zone) -> bool:
        if self._seat is None or zone.shown_to == "all":
            return True
        return zone.shown_to == "owner" and zone.seat == self._seat

    def _shown(self, zone: Zone) -> Text:
        if zone.layout != "stack" or len(zone.cards) <= _STACK_SHOWN:
            return _not_dim(cards_text(zone.cards, signs=self._signs))
        under = len(zone.cards) - _STACK_SHOWN
        top = cards_text(zone.cards[-_STACK_SHOWN:], signs=self._signs)
        return Text(f"({under} more) ").append_text(_not_dim(top))


def _second_person(verb: str) -> str:
    """Return a verb of a line such as "seat 1 passes" as it follows "you"."""
    if verb in (" is", " was", " has"):
        return {" is": " are", " was": " were", " has": " have"}[verb]
    return re.sub(r"(?<=s|x|z|o|h)es$|s$", "", verb)


def _not_dim(text: Text) -> Text:
    base = Text(style="not dim")
    return base.append_text(text)


def _standing(view: SeatView) -> str:
    words: list[str] = [] if view.state == "playing" else [view.state]
    if view.place is not None:
        words.append(f"place {view.place}")
    if view.note:
        words.append(view.note)
    return ", ".join(words)
