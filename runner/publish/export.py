"""All deals as tables for one's own statistics, written as they are read."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from runner.errors import RunError, UsageError
from runner.publish.summary import kept_facts
from runner.publish.tables import FORMATS, no_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from runner.publish.summary import Summary
    from runner.results.records import DealRecord
    from runner.results.store import Store

__all__ = ["DEAL_COLUMNS", "write_deals", "write_table"]

DEAL_COLUMNS = (
    "deal", "round", "match", "rotation", "seat", "bot", "place", "points", "moves", "time_ms",
    "longest_ms", "faults",
)  # fmt: skip
"""One row for each player of each deal. Deals, rounds, matches and rotations count from 1, seats
from 0; of tied players each has the best place of the group; faults are kinds."""


def write_deals(store: Store, path: Path) -> int:
    """Write all deals, as the file's ending says: ``.csv`` or ``.jsonl``.

    CSV has `DEAL_COLUMNS`; a line of JSON is a deal, with its players in a list.

    Returns:
        How many deals there were.

    Raises:
        UsageError: The ending is another, or no tournament was begun there.
        RunError: The disk fails.
    """
    names = [entrant.name for entrant in kept_facts(store).entrants]
    writers = {".csv": _write_csv, ".jsonl": _write_json_lines}
    write = writers.get(path.suffix)
    if write is None:
        raise UsageError(f"{path}: deals are written as {' or '.join(writers)}, by the ending")
    with _whole_file(path) as file:
        return write(file, store, names)


def write_table(summary: Summary, path: Path) -> None:
    """Write the ranking, as the file's ending says.

    Raises:
        UsageError: The ending is no known one.
        RunError: The disk fails.
    """
    writers = {f".{file.rpartition('.')[2]}": write for _, file, write in FORMATS}
    write = writers.get(path.suffix)
    if write is None:
        raise UsageError(f"{path}: the table is written as {', '.join(writers)}, by the ending")
    with _whole_file(path) as file:
        file.write(write(summary))


@contextmanager
def _whole_file(path: Path) -> Iterator[TextIO]:
    """A file that takes its name when it is complete."""
    partial = path.with_name(f".{path.name}.new")
    try:
        with partial.open("w", encoding="utf-8", errors="replace", newline="") as file:
            yield file
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunError(f"{path}: cannot be written ({error})") from error


def _write_csv(file: TextIO, store: Store, names: Sequence[str]) -> int:
    writer = csv.DictWriter(file, DEAL_COLUMNS, lineterminator="\n")
    writer.writeheader()
    number = 0
    for number, record in enumerate(store.records(), start=1):
        for row in _players(record, names):
            row["bot"] = no_formula(row["bot"])
            row["faults"] = " ".join(row["faults"])
            writer.writerow(_place(number, record) | row)
    return number


def _write_json_lines(file: TextIO, store: Store, names: Sequence[str]) -> int:
    encode = msgspec.json.Encoder().encode
    number = 0
    for number, record in enumerate(store.records(), start=1):
        document = _place(number, record) | {"players": list(_players(record, names))}
        file.write(f"{encode(document).decode()}\n")
    return number


def _place(number: int, record: DealRecord) -> dict[str, Any]:
    key = record.key
    return {
        "deal": number,
        "round": key.round + 1,
        "match": key.match + 1,
        "rotation": key.deal + 1,
    }


def _players(record: DealRecord, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for seat, entrant in enumerate(record.seating):
        time = record.times[seat]
        yield {
            "seat": seat,
            "bot": names[entrant],
            "place": record.places[seat],
            "points": record.points[seat],
            "moves": time.moves,
            "time_ms": time.total / 1e6,
            "longest_ms": time.longest / 1e6,
            "faults": [fault.kind for fault in record.faults if fault.seat == seat],
        }
