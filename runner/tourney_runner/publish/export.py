"""Exports of deals and of the ranking as tables, written while they are read."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from itertools import islice
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from tourney_runner.atomic_write import whole_file
from tourney_runner.errors import UsageError
from tourney_runner.play.deal_replay import decisions
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish.columns import no_formula
from tourney_runner.publish.tables import FORMATS
from tourney_runner.results.rulings import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.records import DealKey, DealRecord, Void
    from tourney_runner.results.store import Store

__all__ = [
    "DEAL_COLUMNS",
    "MOVE_FIELDS",
    "Written",
    "check_files",
    "write_deals",
    "write_moves",
    "write_table",
]

DEAL_COLUMNS = (
    "deal", "round", "match", "rotation", "seat", "bot", "place", "points", "moves", "time_ms",
    "longest_ms", "faults", "unplayed",
)  # fmt: skip
"""The columns of a row, one for each player of each deal. Deals, rounds, matches and rotations
count from 1, seats from 0. Tied players all have the best place of their group, faults are listed
by kind, and ``unplayed`` is whether the bot was benched and forfeited the deal.
"""
MOVE_FIELDS = {
    "deal": "The number of the deal, from 1.",
    "round": "Its round, from 1.",
    "match": "Its match in the round, from 1.",
    "rotation": "The rotation of a duplicate deal or the number in the match, from 1.",
    "move": "The number of moves of the deal before this one.",
    "seat": "The seat that decided, from 0.",
    "bot": "The name of its bot.",
    "view": "The observation that the bot got: the `view` of the protocol.",
    "hands": "The cards of every seat, hidden ones included.",
    "legal": "The legal answers.",
    "legal_complete": "False if some legal answers are left out because there are too many.",
    "answer": "The answer that was played.",
    "fallback": "True if the answer was played for a bot that failed.",
    "place": "The place of the seat at the end of the deal.",
    "points": "The points of the seat at the end of the deal.",
}
"""The fields of an exported decision. A Parquet file has `view`, `answer` and each entry of `legal`
as JSON texts."""
_BATCH = 5000
"""Decisions that are written to a Parquet file at once."""
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


_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def check_files(deals: Path | None, table: Path | None, moves: Path | None = None) -> None:
    """Refuse files that cannot be written together, before any of them is written.

    Args:
        deals: For `write_deals`; None if no deals are to be written.
        table: For `write_table`; None if no table is to be written.
        moves: For `write_moves`; None if no moves are to be written.

    Raises:
        UsageError: A file name has an unknown suffix, a library is missing, or two of the files
            are the same.
    """
    if deals is not None:
        _deals_writer(deals)
    if table is not None:
        _table_writer(table)
    if moves is not None:
        _moves_writer(moves)
    if deals is not None and table is not None and _place(deals) == _place(table):
        raise UsageError(f"{table}: the deals go there; give the table a file of its own")
    for other in (deals, table):
        if moves is not None and other is not None and _place(other) == _place(moves):
            raise UsageError(f"{moves}: something else goes there; give the moves their own file")


def write_deals(store: Store, path: Path, *, every: bool = False, bom: bool = False) -> Written:
    """Write the deals that the table counts, in the format of the suffix: ``.csv`` or ``.jsonl``.

    CSV has `DEAL_COLUMNS`; a line of JSON is a deal, with its players in a list.

    Args:
        store: The results.
        path: The file.
        every: Whether to include the deals that do not count, and another column, ``left_out``,
            with the reason; it is empty for deals that count. A deal that was declared void
            precedes the one that replaced it, under the same number.
        bom: Whether CSV begins with a byte order mark, which Excel needs to read UTF-8.

    Raises:
        UsageError: The suffix is unknown, or no tournament was begun there.
        RunError: The disk fails.
    """
    names = [entrant.name for entrant in store.about().entrants]
    write = _deals_writer(path)
    deals = (deal for deal in _all_deals(store, names) if every or not deal.reason)
    with whole_file(path) as file:
        file.write(_BOM if bom and path.suffix == ".csv" else "")
        written = write(file, deals, names, every=every)
    return Written(written, store.count() + len(store.voids()) - written)


def write_moves(store: Store, path: Path, *, every: bool = False) -> Written:
    """Write every decision of the deals that the table counts, for learning from them.

    A line of JSON is one decision: `MOVE_FIELDS` describes it. A Parquet file has a column for each
    field. Decisions that were played for a bot that failed are marked, forfeits are not listed.

    Args:
        store: The results.
        path: The file, ``.jsonl`` or ``.parquet``.
        every: Whether to include the deals that do not count.

    Returns:
        The numbers of deals.

    Raises:
        UsageError: The suffix is unknown, or the library for it is missing.
        RunError: The disk fails.
        ValueError: A deal does not fit the rules.
    """
    about = store.about()
    names = [entrant.name for entrant in about.entrants]
    settings = PlaySettings.of(about)
    written = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal written
        for deal in _all_deals(store, names):
            if every or not deal.reason:
                written += 1
                yield from _decision_rows(settings, deal, names)

    _moves_writer(path)(path, rows())
    return Written(written, store.count() + len(store.voids()) - written)


def _decision_rows(
    settings: PlaySettings, deal: _Deal, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    record = deal.record
    place = _about(deal, every=False)
    for one in decisions(settings, record):
        state, seat = one.state, one.seat
        listed = state.legal_actions("all")
        yield {
            **place,
            "move": one.number,
            "seat": seat,
            "bot": names[record.seating[seat]],
            "view": msgspec.to_builtins(one.view),
            "hands": [state.hand(other) for other in range(state.players)],
            "legal": [state.write(action) for action in listed.actions],
            "legal_complete": listed.complete,
            "answer": state.write(one.action),
            "fallback": one.fallback,
            "place": record.places[seat],
            "points": record.points[seat],
        }


def _moves_writer(path: Path) -> Callable[[Path, Iterable[dict[str, Any]]], None]:
    if path.suffix == ".jsonl":
        return _write_move_lines
    if path.suffix != ".parquet":
        raise UsageError(f"{path}: moves are written as .jsonl or .parquet, by the ending")
    if find_spec("pyarrow") is None:
        raise UsageError(
            f"{path}: Parquet needs pyarrow: pip install 'tourney-runner[parquet]'; or write .jsonl"
        )
    return _write_move_parquet


def _write_move_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    encode = msgspec.json.Encoder().encode
    with whole_file(path) as file:
        for row in rows:
            file.write(f"{encode(row).decode()}\n")


def _write_move_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write a Parquet file in batches. The parts that differ between games are JSON texts."""
    import pyarrow as pa  # noqa: PLC0415 - an optional library
    from pyarrow import parquet  # noqa: PLC0415

    number, text = pa.int64(), pa.string()
    kinds = {
        "view": text, "answer": text, "bot": text, "hands": pa.list_(pa.list_(text)),
        "legal": pa.list_(text), "legal_complete": pa.bool_(), "fallback": pa.bool_(),
        "points": pa.float64(),
    }  # fmt: skip
    schema = pa.schema([(name, kinds.get(name, number)) for name in MOVE_FIELDS])
    with whole_file(path) as file, parquet.ParquetWriter(file.buffer, schema) as writer:
        rows = iter(rows)
        while batch := [*islice(rows, _BATCH)]:
            plain = [
                row
                | {name: msgspec.json.encode(row[name]).decode() for name in ("view", "answer")}
                | {"legal": [msgspec.json.encode(one).decode() for one in row["legal"]]}
                for row in batch
            ]
            writer.write_table(pa.Table.from_pylist(plain, schema=schema))


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


def write_table(summary: Summary, path: Path, *, bom: bool = False) -> None:
    """Write the ranking in the format of the file's suffix.

    Args:
        summary: The table.
        path: The file.
        bom: Whether CSV begins with a byte order mark.

    Raises:
        UsageError: The suffix is unknown.
        RunError: The disk fails.
    """
    write = _table_writer(path)
    with whole_file(path) as file:
        file.write(_BOM if bom and path.suffix == ".csv" else "")
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
