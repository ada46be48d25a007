"""What a finished deal leaves behind: values that pass from the workers to the store."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

__all__ = [
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

UNPLAYED = "forfeited unplayed: "
"""The beginning of the cause that is stored for a deal forfeited by a benched bot."""

NoteKind = Literal["stray", "stale", "pondered", "ended", "stderr"]
"""A line that is no answer; an answer to another request; processor time used while others were to
move; the end of a process between two deals; what was written to stderr."""


class DealKey(NamedTuple):
    """Where a deal stands in the schedule; sorts in schedule order."""

    round: int
    match: int
    """The number within its round."""
    deal: int
    """The rotation of a duplicate deal, or the number of the deal in its match."""

    @property
    def name(self) -> str:
        """What a deal is called before the number of deals ahead of it is certain: ``3.2.1``.

        Round, match and deal, each from 1.
        """
        return f"{self.round + 1}.{self.match + 1}.{self.deal + 1}"


class SeatTime(msgspec.Struct, frozen=True, array_like=True):
    """The time that one seat used in a deal; nanoseconds by the wall clock."""

    moves: int
    total: int
    longest: int


class SlowMove(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A move that took a large share of its limit, and where its time went; nanoseconds."""

    move: int
    """How many moves of the deal had been played."""
    seat: int
    wall: int
    cpu: int
    """Processor time of the bot's whole tree."""
    waiting: int
    """Ready to run, without a core."""


class FaultRecord(msgspec.Struct, frozen=True, array_like=True):
    """One fault of one bot."""

    seat: int
    entrant: int
    kind: FaultKind
    move: int
    """How many moves of the deal had been played."""
    cause: str
    """What happened, in plain words."""
    request: str = ""
    """The line that the bot was answering."""
    answer: str = ""
    """What it had written since, cut to a readable length."""
    stderr: str = ""
    substituted: bool = False
    """Whether the fallback action was played for the bot instead of a forfeit."""

    @property
    def unplayed(self) -> bool:
        """Whether the bot was benched and forfeited the deal: nothing happened in play."""
        return self.cause.startswith(UNPLAYED)


class Note(msgspec.Struct, frozen=True, array_like=True):
    """Something that a bot's log tells of a deal, and no table."""

    seat: int
    kind: NoteKind
    text: str


class DealRecord(msgspec.Struct, frozen=True, array_like=True):
    """One deal, played to the end. Seat-indexed tuples have one value a player."""

    key: DealKey
    seating: tuple[int, ...]
    """Entrant numbers by seat."""
    start: int | None
    """The `start` that the deal began with, see `games.base.Game.new_state`."""
    moves: str
    """Codes of actions separated by spaces; ``!2`` says that seat 2 forfeited there, a leading
    ``?`` that the action was the fallback played for a bot that failed."""
    places: tuple[int, ...]
    points: tuple[float, ...]
    times: tuple[SeatTime, ...]
    faults: tuple[FaultRecord, ...] = ()
    debug: tuple[tuple[int, int, str], ...] = ()
    """(move, seat, text) of the bots' `debug` notes."""
    slow: tuple[SlowMove, ...] = ()
    voids: tuple[str, ...] = ()
    """Why the deal was void before, once for each time: the host had spoilt it."""
    notes: tuple[Note, ...] = ()
    """For the bots' logs; the store does not keep them."""

    def strays(self) -> list[Note]:
        """The notes on lines that answered nothing."""
        return [note for note in self.notes if note.kind in {"stray", "stale"}]


class DealOutcome(msgspec.Struct, frozen=True):
    """As much of a `DealRecord` as tables are computed from."""

    key: DealKey
    seating: tuple[int, ...]
    places: tuple[int, ...]
    points: tuple[float, ...]
    faults: tuple[FaultRecord, ...]


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """What the organiser has decided about an entrant; kept apart from the deals."""

    number: int
    """From 1; 0 before it is stored."""
    at: str
    """When it was taken, ISO 8601 in UTC."""
    kind: Literal["disqualified", "withdrawn", "benched"]
    """``benched`` is decided by a run, see `run.benching`; the others by the organiser."""
    entrant: int
    reason: str
    since: str | None = None
    """The day from which it holds, ISO 8601; None for the day on which it was taken."""
    from_round: int | None = None
    """The first round that the entrant does not take part in, once that is certain."""
    undone: str | None = None
    """When it was taken back."""


class Void(msgspec.Struct, frozen=True):
    """A deal that was stored and does not count any more."""

    at: str
    reason: str
    record: DealRecord
