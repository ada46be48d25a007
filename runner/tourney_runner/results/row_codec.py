"""How deals and their faults are written as rows, and read again."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.results.records import (
    DealKey,
    DealOutcome,
    DealRecord,
    FaultRecord,
    SeatTime,
    SlowMove,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FAULT_COLUMNS",
    "OUTCOME_COLUMNS",
    "Row",
    "deal_row",
    "digest",
    "fault_of",
    "fault_row",
    "json_record",
    "json_text",
    "outcome_of",
    "record_of",
    "seating_of",
]

Row = tuple[Any, ...]
"""A row of the file; those of deals and of faults begin with the deal's key."""

FAULT_COLUMNS = (
    "round, match, deal, number, seat, entrant, kind, move, cause, request, answer, stderr,"
    " substituted"
)
OUTCOME_COLUMNS = "round, match, deal, seating, places, points"

_json = msgspec.json.Encoder().encode
_ints = msgspec.json.Decoder(tuple[int, ...]).decode
_floats = msgspec.json.Decoder(tuple[float, ...]).decode
_times = msgspec.json.Decoder(tuple[SeatTime, ...]).decode
_slow = msgspec.json.Decoder(tuple[SlowMove, ...]).decode
_voids = msgspec.json.Decoder(tuple[str, ...]).decode
_debug = msgspec.json.Decoder(tuple[tuple[int, int, str], ...]).decode
_record = msgspec.json.Decoder(DealRecord).decode


def json_text(value: object) -> str:
    """A value as JSON."""
    return _json(value).decode()


def json_record(text: str) -> DealRecord:
    """A deal from its `json_text`."""
    return _record(text)


def seating_of(column: str) -> tuple[int, ...]:
    """Entrants by seat, from the column of that name."""
    return _ints(column)


def deal_row(record: DealRecord) -> Row:
    """All columns of a deal but its digest."""
    return (
        *record.key,
        json_text(record.seating),
        record.start,
        record.moves,
        json_text(record.places),
        json_text(record.points),
        json_text(record.times),
        json_text(record.debug) if record.debug else None,
        json_text(record.slow) if record.slow else None,
        json_text(record.voids) if record.voids else None,
    )


def fault_row(key: DealKey, number: int, fault: FaultRecord, stderr: str) -> Row:
    """A fault of a deal.

    Args:
        key: The deal's.
        number: Of the fault within its deal, from 0.
        fault: The fault.
        stderr: As much of the bot's standard error as is kept.
    """
    return (
        *key,
        number,
        fault.seat,
        fault.entrant,
        fault.kind,
        fault.move,
        fault.cause,
        fault.request,
        fault.answer,
        stderr,
        int(fault.substituted),
    )


def digest(deal: Row, faults: Sequence[Row]) -> str:
    """What a deal, as `deal_row` has it, and its faults must still come to when read again."""
    return sha256(_json([deal, faults])).hexdigest()[:32]


def fault_of(row: Row) -> FaultRecord:
    """A fault from its `FAULT_COLUMNS`."""
    return msgspec.convert(row[4:], FaultRecord, strict=False)


def outcome_of(key: DealKey, row: Row, faults: tuple[FaultRecord, ...]) -> DealOutcome:
    """A deal from its `OUTCOME_COLUMNS`."""
    return DealOutcome(key, _ints(row[3]), _ints(row[4]), _floats(row[5]), faults)


def record_of(key: DealKey, row: Row, faults: tuple[FaultRecord, ...]) -> DealRecord:
    """A deal from all its columns."""
    _, _, _, seating, start, moves, places, points, times, debug, slow, voids, _ = row
    return DealRecord(
        key=key,
        seating=_ints(seating),
        start=start,
        moves=moves,
        places=_ints(places),
        points=_floats(points),
        times=_times(times),
        faults=faults,
        debug=_debug(debug) if debug else (),
        slow=_slow(slow) if slow else (),
        voids=_voids(voids) if voids else (),
    )
