"""Finding stored deals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.replay.refeed import Stored
from tourney_runner.text import listed, nearest, shown

if TYPE_CHECKING:
    from tourney_runner.results.store import Store

__all__ = ["last_fault", "seat_of", "stored_deal"]


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
