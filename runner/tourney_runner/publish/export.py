"""Exports of deals and of the ranking as tables, written while they are read."""

from __future__ import annotations

import csv
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from tourney_runner.atomic_write import whole_file
from tourney_runner.errors import UsageError
from tourney_runner.publish.tables import FORMATS, no_formula
from tourney_runner.results.rulings import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.records import DealKey, DealRecord, Void
    from tourney_runner.results.store import Store

__all__ = ["DEAL_COLUMNS", "Written", "check_files", "write_deals", "write_table"]

DEAL_COLUMNS = (
    "deal", "round", "match", "rotation", "seat", "bot", "place", "points", "moves", "time_ms",
    "longest_ms", "faults", "unplayed",
)  # fmt: skip
"""The columns of a row, one for each player of each deal. Deals, rounds, matches and rotations
count from 1, seats from 0. Tied players all have the best place of their group, faults are listed
by kind, and ``unplayed`` is whether the bot was benched and forfeited the deal.
"""
_REASON = "left_out"
"""The column for the reason why a deal does not count, used when all deals are written."""


class Written(NamedTuple):
    """The number of exported deals."""

    deals: int
    """Deals in the file."""
    left_out: int
    """Deals left out because they do not count."""


class _Deal(NamedTuple):
    """A deal to be written."""

    number: int
    record: DealRecord
    reason: str
    """The reason why it does not count; empty if it does."""


class _DealsWriter(Protocol):
    """A function that writes deals to a file in one format and returns their number."""

    def __call__(
        self, file: TextIO, deals: Iterable[_Deal], names: Sequence[str], *, every: bool
    ) -> int: ...


def check_files(deals: Path | None, table: Path | None) -> None:
    """Refuse files that cannot be written together, before either of them is written.

    Args:
        deals: For `write_deals`; None if no deals are to be written.
        table: For `write_table`; None if no table is to be written.

    Raises:
        UsageError: A file name has an unknown suffix, or both are the same file.
    """
    if deals is not None:
        _deals_writer(deals)
    if table is not None:
        _table_writer(table)
    if deals is not None and table is not None and _place(deals) == _place(table):
        raise UsageError(f"{table}: the deals go there; give the table a file of its own")


def write_deals(store: Store, path: Path, *, every: bool = False) -> Written:
    """Write the deals that the table counts, in the format of the suffix: ``.csv`` or ``.jsonl``.

    CSV has `DEAL_COLUMNS`; a line of JSON is a deal, with its players in a list.

    Args:
        store: The results.
        path: The file.
        every: Whether to include the deals that do not count, and another column, ``left_out``,
            with the reason; it is empty for deals that count. A deal that was declared void
            precedes the one that replaced it, under the same number.

    Raises:
        UsageError: The suffix is unknown, or no tournament was begun there.
        RunError: The disk fails.
    """
    names = [entrant.name for entrant in store.about().entrants]
    write = _deals_writer(path)
    deals = (deal for deal in _all_deals(store, names) if every or not deal.reason)
    with whole_file(path) as file:
        written = write(file, deals, names, every=every)
    return Written(written, store.count() + len(store.voids()) - written)


def _all_deals(store: Store, names: Sequence[str]) -> Iterator[_Deal]:
    """Yield every deal that was played, in schedule order."""
    out = {
        ruling.entrant: f"{names[ruling.entrant]} is disqualified: {ruling.reason}"
        for ruling in in_force(store)
        if ruling.kind == "disqualified"
    }
    voids: dict[DealKey, list[Void]] = {}
    for void in store.voids():
        voids.setdefault(void.record.key, []).append(void)
    for number, record in enumerate(store.records(), start=1):
        for void in voids.get(record.key, ()):
            yield _Deal(number, void.record, f"void: {void.reason}")
        yield _Deal(number, record, "; ".join(out[one] for one in record.seating if one in out))


def write_table(summary: Summary, path: Path) -> None:
    """Write the ranking in the format of the file's suffix.

    Raises:
        UsageError: The suffix is unknown.
        RunError: The disk fails.
    """
    write = _table_writer(path)
    with whole_file(path) as file:
        file.write(write(summary))


def _deals_writer(path: Path) -> _DealsWriter:
    writers: dict[str, _DealsWriter] = {".csv": _write_csv, ".jsonl": _write_json_lines}
    write = writers.get(path.suffix)
    if write is None:
        raise UsageError(f"{path}: deals are written as {' or '.join(writers)}, by the ending")
    return write


def _table_writer(path: Path) -> Callable[[Summary], str]:
    writers = {f".{file.rpartition('.')[2]}": write for _, file, write in FORMATS}
    write = writers.get(path.suffix)
    if write is None:
        raise UsageError(f"{path}: the table is written as {', '.join(writers)}, by the ending")
    return write


def _place(path: Path) -> Path:
    """Return the place of a file, without following the file itself: a link is replaced."""
    # `Path.resolve` raises an error other than OSError for circular links.
    return Path(realpath(path.parent), path.name)


def _write_csv(file: TextIO, deals: Iterable[_Deal], names: Sequence[str], *, every: bool) -> int:
    columns = (*DEAL_COLUMNS, _REASON) if every else DEAL_COLUMNS
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    count = 0
    for deal in deals:
        count += 1
        about = _about(deal._replace(reason=no_formula(deal.reason)), every=every)
        for row in _players(deal.record, names):
            row["bot"] = no_formula(row["bot"])
            row["faults"] = " ".join(row["faults"])
            writer.writerow(about | row)
    return count


def _write_json_lines(
    file: TextIO, deals: Iterable[_Deal], names: Sequence[str], *, every: bool
) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    for deal in deals:
        count += 1
        document = _about(deal, every=every) | {"players": list(_players(deal.record, names))}
        file.write(f"{encode(document).decode()}\n")
    return count


def _about(deal: _Deal, *, every: bool) -> dict[str, Any]:
    key = deal.record.key
    about: dict[str, Any] = {
        "deal": deal.number,
        "round": key.round + 1,
        "match": key.match + 1,
        "rotation": key.deal + 1,
    }
    return about | {_REASON: deal.reason} if every else about


def _players(record: DealRecord, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for seat, entrant in enumerate(record.seating):
        time = record.times[seat]
        faults = [fault for fault in record.faults if fault.seat == seat]
        yield {
            "seat": seat,
            "bot": names[entrant],
            "place": record.places[seat],
            "points": record.points[seat],
            "moves": time.moves,
            "time_ms": time.total / 1e6,
            "longest_ms": time.longest / 1e6,
            "faults": [fault.kind for fault in faults if not fault.unplayed],
            "unplayed": any(fault.unplayed for fault in faults),
        }
