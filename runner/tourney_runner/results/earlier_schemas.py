"""Conversion of results files from earlier schema versions.

Schema 2 (tourney 0.1.0 before its release) stored the description of a tournament as 17 JSON values
with the rules in three of them. Reading commands convert it in memory; commands that write convert
the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.results.records import DealKey
from tourney_runner.results.row_codec import (
    DEAL_COLUMNS,
    FAULT_COLUMNS,
    SUM_MASK,
    block_of,
    is_whole,
    outcome_row,
    row_checksum,
)
from tourney_runner.results.tournament_record import TournamentRecord

if TYPE_CHECKING:
    import sqlite3

    from tourney_runner.results.row_codec import Row

__all__ = ["FIRST_SCHEMA", "migrate", "values_of"]

FIRST_SCHEMA = 2
"""The oldest schema that can be read."""
_KEPT_NOTES = ("checkpoint", "planned", "seen")
"""Keys of schema 2 that later schemas keep unchanged."""
_PLAY_ELSEWHERE = ("game", "rules", "master_seed")
"""Settings of play that are stored in separate fields of a record."""


def values_of(values: dict[str, str], schema: int) -> dict[str, str]:
    """Return the JSON values of a results file by key, in the form of the current schema.

    Args:
        values: The values as stored.
        schema: The file's schema version, at least `FIRST_SCHEMA`.
    """
    return _from_schema_2(values) if schema == FIRST_SCHEMA else values


def migrate(db: sqlite3.Connection, schema: int) -> None:
    """Convert a results file to the current schema, in a transaction of the caller.

    Args:
        db: The open file.
        schema: Its schema version, at least `FIRST_SCHEMA`.

    Raises:
        ValueError: A row is damaged.
    """
    if schema == FIRST_SCHEMA:
        values = values_of(dict(db.execute("SELECT key, value FROM meta")), schema)
        db.execute("DELETE FROM meta")
        db.executemany("INSERT INTO meta VALUES (?, ?)", values.items())
        db.execute(
            "CREATE TABLE sums (part TEXT NOT NULL, number INTEGER NOT NULL, rows INTEGER NOT NULL,"
            " sum INTEGER NOT NULL, PRIMARY KEY (part, number)) WITHOUT ROWID"
        )
        db.execute(
            "CREATE TABLE planned (round INTEGER NOT NULL, match INTEGER NOT NULL,"
            " seating TEXT NOT NULL, PRIMARY KEY (round, match)) WITHOUT ROWID"
        )
        db.execute("ALTER TABLE deals ADD COLUMN outcome_sum INTEGER")
        db.execute("ALTER TABLE deals ADD COLUMN row_sum INTEGER")
        _add_checksums(db)


def _add_checksums(db: sqlite3.Connection) -> None:
    """Add checksums to all deals, and the sums of deals and faults."""
    faults: dict[Row, list[Row]] = {}
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    for row in db.execute(f"SELECT {FAULT_COLUMNS} FROM faults ORDER BY 1, 2, 3, 4"):  # noqa: S608 - names of ours
        faults.setdefault(row[:3], []).append(row)
        _add(sums, ("faults", block_of(row)), row_checksum(row))
    checksums = []
    for row in db.execute(f"SELECT {DEAL_COLUMNS} FROM deals"):  # noqa: S608 - names of ours
        if not is_whole(row, faults.pop(row[:3], [])):
            raise ValueError(f"the deal {DealKey(*row[:3]).name} is not as it was stored")
        whole, outcome = row_checksum(row), row_checksum(outcome_row(row))
        _add(sums, ("deals", block_of(row)), whole)
        _add(sums, ("outcomes", block_of(row)), outcome)
        checksums.append((outcome, whole, *row[:3]))
    if faults:
        raise ValueError("there are faults of deals that are not there")
    db.executemany(
        "UPDATE deals SET outcome_sum = ?, row_sum = ? WHERE round = ? AND match = ? AND deal = ?",
        checksums,
    )
    db.executemany(
        "INSERT INTO sums VALUES (?, ?, ?, ?)",
        [(*place, *counted) for place, counted in sums.items()],
    )


def _add(
    sums: dict[tuple[str, int], tuple[int, int]], place: tuple[str, int], checksum: int
) -> None:
    rows, total = sums.get(place, (0, 0))
    sums[place] = rows + 1, total + checksum & SUM_MASK


def _from_schema_2(values: dict[str, str]) -> dict[str, str]:
    current = {key: values[key] for key in _KEPT_NOTES if key in values}
    if "facts" in values:
        old = {key: json.loads(value) for key, value in values.items()}
        record = msgspec.convert(_record_of(old), TournamentRecord, str_keys=True)
        current["tournament"] = msgspec.json.encode(record).decode()
    return current


def _record_of(old: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `TournamentRecord` for the values of schema 2."""
    facts, settings, identity = old["facts"], old["settings"], old["identity"]
    whole = {key: old[key] for key in _SAME if old.get(key) is not None}
    whole |= {
        key: identity[key] for key in ("clock", "sandbox", "build_network") if key in identity
    }
    return whole | {
        "kind": "tournament" if "schedule" in identity else "table",
        "name": facts["name"],
        "game": settings["game"],
        "rules": settings["rules"],
        "differing": facts["differing"],
        "play": {key: value for key, value in settings.items() if key not in _PLAY_ELSEWHERE},
        "limits": facts["limits"],
        "schedule": _schedule_of(identity),
        "rating": facts["rating"],
        "update": facts.get("update", "order_free"),
        "entrants": [
            _entrant_of(number, bot, identity.get("bots", {}))
            for number, bot in enumerate(facts["entrants"])
        ],
        "conditions": {key: facts[key] for key in ("protection", "clock", "version")},
        "started_in": old.get("sandbox"),
    }


_SAME = (
    "seed", "publish", "began", "ended", "complete", "sealed", "added", "skipped", "versions",
    "stages", "stages_before",
)  # fmt: skip
"""Keys of schema 2 that are fields of a record with the same meaning."""


def _schedule_of(identity: dict[str, Any]) -> dict[str, Any] | None:
    if "schedule" not in identity:
        return None
    options = dict(identity["schedule"])
    return {
        "format": options.pop("format"),
        "options": options,
        "rounds": identity["rounds"],
        "format_rules": 1,
    }


def _entrant_of(number: int, bot: dict[str, Any], joined: dict[str, Any]) -> dict[str, Any]:
    about = {key: bot[key] for key in ("name", "hash", "language", "author", "executable")}
    known = joined.get(bot["name"], {})
    return about | {
        "number": number,
        "team": known.get("team"),
        "rights": known.get("rights"),
    }
