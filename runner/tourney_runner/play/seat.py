"""The seat of a player during one deal: its limits, the events it has seen, its times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.protocol.messages import MoveTime
from tourney_runner.results.records import SeatTime

if TYPE_CHECKING:
    from msgspec import Raw

    from tourney_runner.play.faults import Fault
    from tourney_runner.play.player import Player

__all__ = ["Seat"]

_DEBUG_CAP = 4096
"""Bytes of a bot's `debug` text that are kept per deal."""

_MS = 1_000_000


@dataclass(slots=True)
class Seat:
    """A player's seat in one deal. Times are in nanoseconds."""

    number: int
    player: Player
    greeting: bytes
    """The `Deal` message for this player, encoded."""
    first_id: int
    """The id of a request before any move. Later ids add the number of moves so far."""
    move_limit: int
    """The limit of an answer without the bank."""
    limit: int
    """The limit of the next answer, including the rest of the bank."""
    time: MoveTime
    """The limits as they are sent to the bot."""
    greeted: bool = False
    seen: int = 0
    """The number of events that were sent to the player."""
    own: dict[int, Raw] = field(default_factory=dict)
    """This seat's versions of events, by number of the event."""
    charged: list[int] = field(default_factory=list)
    """The time charged for each answer."""
    not_started: Fault | None = None
    """The reason why no process started, until it is noted in the player's turn."""
    debug_left: int = _DEBUG_CAP

    def draw(self, charged: int) -> None:
        """Deduct from the bank the time by which an answer exceeded `move_limit`."""
        if charged > self.move_limit:
            bank = max(0, self.limit - charged)
            self.limit = self.move_limit + bank
            self.time = MoveTime(self.move_limit // _MS, bank // _MS)

    def times(self) -> SeatTime:
        """Return the stored summary of the player's times."""
        charged = self.charged
        return SeatTime(len(charged), sum(charged), max(charged) if charged else 0)

    def keep_debug(self, text: str) -> str:
        """Return as much of a bot's debug text as may still be kept."""
        kept = text.encode(errors="replace")[: self.debug_left]
        self.debug_left -= len(kept)
        return kept.decode(errors="ignore")
