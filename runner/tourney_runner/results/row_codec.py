"""Conversion of deals and faults to rows of the results file and back, with checksums."""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any
from zlib import crc32

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
    "DEAL_COLUMNS",
    "FAULT_COLUMNS",
    "OUTCOME_COLUMNS",
    "SUM_MASK",
    "Row",
    "block_of",
    "checksum",
    "deal_row",
    "digest",
    "fault_of",
    "fault_row",
    "is_whole",
    "json_record",
    "json_text",
    "outcome_of",
    "outcome_row",
    "record_of",
    "round_of",
    "row_checksum",
    "row_checksums",
    "rows_of",
    "seating_of",
    "whole_blocks",
]

Row = tuple[Any, ...]
"""A row of the file; rows of deals and faults begin with the deal's key."""

FAULT_COLUMNS = (
    "round, match, deal, number, seat, entrant, kind, move, cause, request, answer, stderr,"
    " substituted"
)
OUTCOME_COLUMNS = "round, match, deal, seating, places, points"
DEAL_COLUMNS = (
    "round, match, deal, seating, start, moves, places, points, times, debug, slow, voids, digest"
)

SUM_MASK = 2**62 - 1
"""Sums of checksums wrap around at this mask, so that SQLite can add two of them as integers."""

_BLOCK_BITS = 6
_ROUND_BITS = 32

_json = msgspec.json.Encoder().encode
_json_lines = msgspec.json.Encoder().encode_lines
_ints = msgspec.json.Decoder(tuple[int, ...]).decode
_floats = msgspec.json.Decoder(tuple[float, ...]).decode
_times = msgspec.json.Decoder(tuple[SeatTime, ...]).decode
_slow = msgspec.json.Decoder(tuple[SlowMove, ...]).decode
_voids = msgspec.json.Decoder(tuple[str, ...]).decode
_debug = msgspec.json.Decoder(tuple[tuple[int, int, str], ...]).decode
_record = msgspec.json.Decoder(DealRecord).decode


def json_text(value: object) -> str:
    """Return a value as JSON."""
    return _json(value).decode()


def json_record(text: str) -> DealRecord:
    """Return a deal from its `json_text`."""
    return _record(text)


def seating_of(column: str) -> tuple[int, ...]:
    """Return entrants by seat from the ``seating`` column."""
    return _ints(column)


def deal_row(record: DealRecord) -> Row:
    """Return all columns of a deal except its digest."""
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
    """Return a fault of a deal as a row.

    Args:
        key: The key of the deal.
        number: The number of the fault in its deal, from 0.
        fault: The fault.
        stderr: The part of the bot's standard error that is stored.
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
    """Return the hash of a deal in the form of `deal_row`, and of its faults.

    `tourney verify` compares it; other commands compare the faster `row_checksum`. Both detect
    damage, not forgery: anyone who edits a row can compute them.
    """
    return sha256(_json([deal, faults])).hexdigest()[:32]


def block_of(row: Row) -> int:
    """Return the number of a row's block: 64 matches of one round, for which a sum is stored.

    Args:
        row: The round and the match, and maybe more.

    Raises:
        TypeError: The row is damaged, so that these are not numbers.
    """
    number: int = row[0] << _ROUND_BITS | row[1] >> _BLOCK_BITS
    return number


def round_of(block: int) -> int:
    """Return the round of a block."""
    return block >> _ROUND_BITS


def rows_of(block: int) -> tuple[range, range]:
    """Return the round of a block, as a range, and its matches."""
    number, first = round_of(block), (block & (1 << _ROUND_BITS) - 1) << _BLOCK_BITS
    return range(number, number + 1), range(first, first + (1 << _BLOCK_BITS))


def whole_blocks(matches: range) -> range:
    """Return a range of matches, extended to whole blocks."""
    size = 1 << _BLOCK_BITS
    return range(matches.start // size * size, -(-matches.stop // size) * size)


def row_checksums(rows: Sequence[Row]) -> list[int]:
    """Return the CRC-32 of each row, encoded as JSON.

    A few calls of compiled code check all rows, so this takes less than a microsecond a row.
    """
    return list(map(crc32, _json_lines(rows).split(b"\n")[:-1]))


def row_checksum(row: Row) -> int:
    """Return the checksum of one row, see `row_checksums`."""
    return crc32(_json(row))


def outcome_row(deal: Row) -> Row:
    """Return the `OUTCOME_COLUMNS` of a `deal_row`."""
    return (*deal[:4], *deal[6:8])


def checksum(row: Row) -> int:
    """Return a checksum of any row, for sums of checksums."""
    text = repr(row).encode("utf-8", "replace")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") & SUM_MASK


def is_whole(deal: Row, faults: Sequence[Row]) -> bool:
    """Return whether a deal, with its digest as the last column, is undamaged."""
    return digest(deal[:-1], faults) == str(deal[-1])


def fault_of(row: Row) -> FaultRecord:
    """Return a fault from its `FAULT_COLUMNS`."""
    return msgspec.convert(row[4:], FaultRecord, strict=False)


def outcome_of(key: DealKey, row: Row, faults: tuple[FaultRecord, ...]) -> DealOutcome:
    """Return a deal from its `OUTCOME_COLUMNS`."""
    return DealOutcome(key, _ints(row[3]), _ints(row[4]), _floats(row[5]), faults)


def record_of(key: DealKey, row: Row, faults: tuple[FaultRecord, ...]) -> DealRecord:
    """Return a deal from all its columns."""
    seating, start, moves, places, points, times, debug, slow, voids = row[3:12]
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
