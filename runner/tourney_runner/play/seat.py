"""A seat at the table: who plays there and what is kept of it during one deal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.protocol.messages import MoveTime
from tourney_runner.results.records import SeatTime

if TYPE_CHECKING:
    from tourney_runner.play.faults import Fault
    from tourney_runner.play.player import Player

__all__ = ["Seat"]

_DEBUG_CAP = 4096
"""Bytes of a bot's `debug` text that are kept of a deal."""

_MS = 1_000_000


@dataclass(slots=True)
class Seat:
    """Times in nanoseconds."""

    number: int
    player: Player
    greeting: bytes
    """The `Deal` that this player is sent."""
    first_id: int
    """That of a request at the very beginning; later ones add the number of events before them."""
    move_limit: int
    """For an answer, without the bank."""
    limit: int
    """For the next answer, what is left of the bank included."""
    time: MoveTime
    """The same as the bot is told."""
    greeted: bool = False
    seen: int = 0
    """How many events the player has been told."""
    charged: list[int] = field(default_factory=list)
    """What each answer was charged."""
    not_started: Fault | None = None
    """Why there is no process, until it is noted in the player's turn."""
    debug_left: int = _DEBUG_CAP

    def draw(self, charged: int) -> None:
        """Take from the bank what an answer took longer than the limit without it."""
        if charged > self.move_limit:
            bank = max(0, self.limit - charged)
            self.limit = self.move_limit + bank
            self.time = MoveTime(self.move_limit // _MS, bank // _MS)

    def times(self) -> SeatTime:
        """What is stored of the player's time."""
        charged = self.charged
        return SeatTime(len(charged), sum(charged), max(charged) if charged else 0)

    def keep_debug(self, text: str) -> str:
        """As much of a bot's text as may still be kept."""
        kept = text.encode(errors="replace")[: self.debug_left]
        self.debug_left -= len(kept)
        return kept.decode(errors="ignore")
