"""The records of finished deals, passed from the workers to the store, and of rulings."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

__all__ = [
    "CUT_SHORT",
    "FAULT_KINDS",
    "UNPLAYED",
    "DealKey",
    "DealOutcome",
    "DealRecord",
    "Decision",
    "FaultKind",
    "FaultRecord",
    "Note",
    "NoteKind",
    "SeatTime",
    "SlowMove",
    "Void",
]

FaultKind = Literal["start", "crash", "timeout", "illegal", "malformed", "flood", "memory"]
FAULT_KINDS: tuple[FaultKind, ...] = (
    "start", "crash", "timeout", "illegal", "malformed", "flood", "memory",
)  # fmt: skip

CUT_SHORT = "="
"""The last code of a deal that was ended after `max_moves`."""

UNPLAYED = "forfeited unplayed: "
"""The prefix of the cause that is stored for a deal forfeited by a benched bot."""

NoteKind = Literal["stray", "stale", "pondered", "ended", "stderr"]
"""``stray``: a line that is not an answer; ``stale``: an answer to another request; ``pondered``:
CPU time used while others were to move; ``ended``: the end of a process between two deals;
``stderr``: text written to stderr.
"""


class DealKey(NamedTuple):
    """The position of a deal in the schedule; keys sort in schedule order."""

    round: int
    match: int
    """The number within its round."""
    deal: int
    """The rotation of a duplicate deal, or the number of the deal in its match."""

    @property
    def name(self) -> str:
        """The name of a deal while the number of deals before it is uncertain: ``3.2.1``.

        Round, match and deal, each from 1.
        """
        return f"{self.round + 1}.{self.match + 1}.{self.deal + 1}"


class SeatTime(msgspec.Struct, frozen=True, array_like=True):
    """The time that a seat used in a deal; wall-clock nanoseconds."""

    moves: int
    total: int
    longest: int


class SlowMove(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A move that used a large share of its limit, with a breakdown of its time; nanoseconds."""

    move: int
    """The number of moves of the deal that had been played."""
    seat: int
    wall: int
    cpu: int
    """CPU time of the bot's whole process tree."""
    waiting: int
    """Time in which it was ready to run but had no core."""


class FaultRecord(msgspec.Struct, frozen=True, array_like=True):
    """A fault of a bot."""

    seat: int
    entrant: int
    kind: FaultKind
    move: int
    """The number of moves of the deal that had been played."""
    cause: str
    """A description in plain words."""
    request: str = ""
    """The line that the bot was answering."""
    answer: str = ""
    """The bot's output since the request, cut to a readable length."""
    stderr: str = ""
    substituted: bool = False
    """Whether the fallback action was played for the bot instead of a forfeit."""

    @property
    def unplayed(self) -> bool:
        """Whether the bot was benched and forfeited the deal, so that nothing happened in play."""
        return self.cause.startswith(UNPLAYED)


class Note(msgspec.Struct, frozen=True, array_like=True):
    """An entry for a bot's log about a deal; tables do not use it."""

    seat: int
    kind: NoteKind
    text: str


class DealRecord(msgspec.Struct, frozen=True, array_like=True):
    """A finished deal. Tuples by seat have one value per player."""

    key: DealKey
    seating: tuple[int, ...]
    """Entrant numbers by seat."""
    start: int | None
    """The `start` that the deal began with, see `games.base.Game.new_state`."""
    moves: str
    """Codes of actions separated by spaces. ``!2`` means that seat 2 forfeited at that point, and a
    leading ``?`` that the action was the fallback played for a bot that failed. A last ``=`` means
    that the deal was ended after `max_moves`.
    """
    places: tuple[int, ...]
    points: tuple[float, ...]
    times: tuple[SeatTime, ...]
    faults: tuple[FaultRecord, ...] = ()
    debug: tuple[tuple[int, int, str], ...] = ()
    """(move, seat, text) of the bots' `debug` notes."""
    slow: tuple[SlowMove, ...] = ()
    voids: tuple[str, ...] = ()
    """The reasons for which earlier plays of the deal were void because of the host."""
    notes: tuple[Note, ...] = ()
    """Notes for the bots' logs; the store does not keep them."""

    @property
    def cut_short(self) -> bool:
        """Whether the deal was ended after `max_moves`, with shared places."""
        return self.moves.endswith(CUT_SHORT)

    def strays(self) -> list[Note]:
        """Return the notes on lines that answered no request."""
        return [note for note in self.notes if note.kind in {"stray", "stale"}]


class DealOutcome(msgspec.Struct, frozen=True):
    """The part of a `DealRecord` from which tables are computed."""

    key: DealKey
    seating: tuple[int, ...]
    places: tuple[int, ...]
    points: tuple[float, ...]
    faults: tuple[FaultRecord, ...]


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """A ruling about an entrant, stored separately from the deals."""

    number: int
    """From 1; 0 before it is stored."""
    at: str
    """The time of the decision, ISO 8601 in UTC."""
    kind: Literal["disqualified", "withdrawn", "benched"]
    """``benched`` is decided by a run, see `run.benching`; the others by the organiser."""
    entrant: int
    reason: str
    since: str | None = None
    """The day from which it applies, ISO 8601; None for the day on which it was taken."""
    from_round: int | None = None
    """The first round that the entrant does not take part in, once that is known."""
    undone: str | None = None
    """The time at which it was taken back; None while it is in force."""


class Void(msgspec.Struct, frozen=True):
    """A stored deal that no longer counts."""

    at: str
    reason: str
    record: DealRecord
