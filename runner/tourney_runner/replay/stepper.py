"""Stored deals: find one, and show it in a terminal step by step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from rich.text import Text

from tourney_runner.errors import UsageError
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.replay.refeed import Stored, listen
from tourney_runner.replay.terminal_view import Artist
from tourney_runner.text import listed, nearest, printable, shown

if TYPE_CHECKING:
    from rich.console import Console

    from tourney_runner.games.base import Scene
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store

__all__ = ["Frame", "Stepper", "frames", "last_fault", "seat_of", "stored_deal"]


_HELP = "Enter: next   b: back   a number: that move   f: next fault   e: end   q: quit"
_KEYS = ("", "n", "b", "f", "e", "?", "h", "help")
_LONG = 2000


class Remark(NamedTuple):
    """A remark about a move."""

    who: str
    text: str
    of_game: bool = False
    """True if the text is from the game, with cards and seats to be drawn."""


class Frame(NamedTuple):
    """One position of a deal."""

    log: str
    """The last event."""
    scene: Scene
    remarks: tuple[Remark, ...]
    """The remarks of the bots and the referee about it."""
    failed: tuple[int, ...] = ()
    """The seats that failed at this move."""
    seen: tuple[str, ...] = ()
    """The messages to the watched bot before the move that led here."""


def frames(stored: Stored, seat: int | None) -> list[Frame]:
    """Return all positions of a deal, the first one before any move.

    Args:
        stored: The deal.
        seat: The seat whose messages are shown; None for no messages.

    Raises:
        ValueError: The record is not a deal of these rules.
    """
    record = stored.record
    start = dealt(stored.settings, record.key, record.start)
    found = [Frame(start.opening(), start.scene(), ())]
    seen = {} if seat is None else {it.move: it.messages for it in listen(stored, seat)}
    for step in steps(stored.settings, record):
        remarks = _remarks(record, step.number, stored.names)
        sent = tuple(_readable(line) for line in seen.get(step.number, ()))
        log = step.log()
        if step.fallback:
            log += " (played for it)"
        failed = tuple(fault.seat for fault in record.faults if fault.move == step.number)
        found.append(Frame(log, step.state.scene(), remarks, failed, sent))
    if seat is not None:
        after = seen.get(len(found) - 1, ())
        found[-1] = found[-1]._replace(seen=(*found[-1].seen, *map(_readable, after)))
    return found


def _remarks(record: DealRecord, move: int, names: tuple[str, ...]) -> tuple[Remark, ...]:
    remarks = []
    for fault in record.faults:
        if fault.move == move:
            who, text = names[fault.seat], f"{fault.kind}: {printable(fault.cause)}"
            remarks.append(Remark(who, text, of_game=fault.kind == "illegal"))
            if fault.answer:
                remarks.append(Remark("  it had written", printable(fault.answer)))
            if stderr := fault.stderr.strip():
                remarks.append(Remark("  stderr", printable(stderr)))
    said = [
        Remark(f"{names[seat]} notes", printable(text))
        for at, seat, text in record.debug
        if at == move
    ]
    return (*remarks, *said)


def _readable(line: bytes) -> str:
    message = json.loads(line)
    return msgspec.json.encode(message).decode()


class Stepper:
    """A viewer of frames: one at a time on a terminal, all of them elsewhere.

    Args:
        stored: The deal.
        seat: The seat whose view is shown; None to show all cards.
        console: The console to draw on.
        title: The first line.
    """

    def __init__(self, stored: Stored, seat: int | None, console: Console, title: str) -> None:
        self._frames = frames(stored, seat)
        self._console = console
        self._title = title
        self._names = stored.names
        self._record = stored.record
        self._artist = Artist(stored.names, seat, signs=console.encoding.startswith("utf"))

    def print_all(self) -> None:
        """Print every move, and the last position."""
        self._console.print(Text(self._title))
        for number, frame in enumerate(self._frames):
            self._say(number, frame)
        self._console.print(self._artist.draw(self._frames[-1].scene))
        self._result()

    def run(self, failed_seat: int | None = None) -> None:
        """Let a person step through, from the beginning or from the first fault of a seat."""
        at, last = self._first_fault(failed_seat), len(self._frames) - 1
        self._console.print(Text(self._title))
        while True:
            self._console.rule(Text(f"move {at} of {last}"))
            self._say(at, self._frames[at])
            self._console.print(self._artist.draw(self._frames[at].scene))
            if at == last:
                self._result()
            try:
                word = self._console.input(Text(f"{_HELP}\n> ", style="dim")).strip().lower()
            except EOFError:
                return
            if word in ("q", "quit"):
                return
            if not (word.isdecimal() or word in _KEYS):
                self._console.print(Text(f"no key {shown(word)}; the keys are below the position"))
            at = self._moved(at, word)

    def _first_fault(self, seat: int | None) -> int:
        return next((at for at, frame in enumerate(self._frames) if seat in frame.failed), 0)

    def _moved(self, at: int, word: str) -> int:
        last = len(self._frames) - 1
        if word.isdecimal():
            return min(int(word), last)
        if word == "b":
            return max(at - 1, 0)
        if word == "e":
            return last
        if word == "f":
            later = [number for number in range(at + 1, last + 1) if self._frames[number].failed]
            return later[0] if later else last
        if word in ("", "n"):
            return min(at + 1, last)
        return at  # the keys are shown again below the position

    def _say(self, number: int, frame: Frame) -> None:
        for line in frame.seen:
            cut = line if len(line) <= _LONG else f"{line[:_LONG]}... ({len(line)} characters)"
            self._console.print(Text(f"     sent: {cut}", style="dim"), soft_wrap=True)
        log = Text(f"{number:4} ").append_text(self._artist.line(frame.log))
        if frame.failed:
            log.stylize("red")
        self._console.print(log, soft_wrap=True)
        for remark in frame.remarks:
            words = remark.text.replace("\n", "\n       ")
            text = self._artist.line(words) if remark.of_game else Text(words)
            said = Text(f"     {remark.who}: ", style="yellow").append_text(text)
            self._console.print(said, soft_wrap=True)

    def _result(self) -> None:
        order = sorted(range(len(self._names)), key=lambda seat: self._record.places[seat])
        for seat in order:
            points = f"{self._record.points[seat]:g}"
            line = f"{self._record.places[seat]}. {self._names[seat]}, points: {points}"
            self._console.print(Text(line))


def stored_deal(store: Store, number: int) -> Stored:
    """Return a deal by its number in schedule order, from 1.

    Raises:
        UsageError: There are fewer deals, or the folder has no tournament.
    """
    record = store.record(number)
    names = _names(store)
    settings = PlaySettings.of(store.about())
    return Stored(settings, record, tuple(names[entrant] for entrant in record.seating))


def last_fault(store: Store, name: str) -> tuple[int, int]:
    """Return the number of the last deal in which a bot failed, and the bot's seat.

    Raises:
        UsageError: The bot never failed, or there is no such bot.
    """
    names = _names(store)
    if name not in names:
        raise UsageError(
            f"{store.path}: nobody is called {shown(name)}; the bots are {listed(names, 'and')}"
            f"{nearest(name, names)}"
        )
    entrant, found, unplayed = names.index(name), None, None
    failed = set()
    for number, record in enumerate(store.records(), 1):
        for fault in record.faults:
            failed.add(fault.entrant)
            if fault.entrant == entrant:
                place = number, fault.seat
                if fault.unplayed:  # the bot did not play in such a deal
                    unplayed = place
                else:
                    found = place
    found = found or unplayed
    if found is None:
        others = [other for number, other in enumerate(names) if number in failed]
        but = f"; {listed(others, 'and')} failed" if others else ""
        raise UsageError(f"{store.path}: {shown(name)} has no fault here{but}")
    return found


def seat_of(stored: Stored, seat: int) -> int:
    """Check a seat of a deal and return it.

    Raises:
        UsageError: There is no such seat.
    """
    if not 0 <= seat < len(stored.names):
        seats = ", ".join(f"{number} {name}" for number, name in enumerate(stored.names))
        raise UsageError(f"there is no seat {seat} in this deal; its seats are {seats}")
    return seat


def _names(store: Store) -> list[str]:
    return [entrant.name for entrant in store.about().entrants]
