"""A damaged results file is refused: it never gives another table, and never a traceback."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tourney_runner.cli.app import app
from tourney_runner.errors import DamageError, TourneyError
from tourney_runner.publish.export import write_deals
from tourney_runner.publish.summary import summarise
from tourney_runner.publish.tables import as_json
from tourney_runner.results.records import Decision, FaultRecord
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.verify.verification import Wanted, verify
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    Damage = Callable[[Path, random.Random], None]

FROZEN = Path(__file__).parents[1] / "data" / "results" / "0.1.0-9ef054c"
TABLES = ("deals", "faults", "decisions", "voids", "meta", "sums")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file of today's schema with faults, void deals and rulings."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copy(FROZEN / "voids" / FILE_NAME, folder)
    path = folder / FILE_NAME
    with closing(Store(path, create=True)) as store:
        at = store.record(1)
        store.exchange([at.key], [at], "a trial", "2026-11-30T00:00:00+00:00")
        store.decide(Decision(0, "2026-11-30T00:00:00+00:00", "disqualified", 0, "a trial"))
        failed = msgspec.structs.replace(
            store.record(2), faults=(FaultRecord(0, 1, "crash", 0, "it ended"),)
        )
        store.exchange([failed.key], [failed], "a trial", "2026-11-30T00:00:00+00:00")
        store.change(limits="move 1 s")
    return path


def _flip_bytes(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 20))):
        data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _zero(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    size = chance.choice((200, 3000, 4096))
    at = chance.randrange(0, len(data) - size)
    at -= at % 4096 if size == 4096 else 0
    data[at : at + size] = bytes(size)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))])


def _sql(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as db, db, suppress(sqlite3.DatabaseError):
        db.execute(statement, values)


def _column(path: Path, chance: random.Random) -> tuple[str, str]:
    table = chance.choice(TABLES)
    with closing(sqlite3.connect(path)) as db:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    return table, chance.choice(columns)


def _change_values(path: Path, chance: random.Random) -> None:
    table, column = _column(path, chance)
    value = chance.choice(("[1,2,3", "", "[2,1,1,1]", -7, 2**40, 0.5, b"\xff\xfe", "x"))
    where = chance.choice(("", f" WHERE {column} = (SELECT max({column}) FROM {table})"))  # noqa: S608 - names of ours
    _sql(path, f"UPDATE OR IGNORE {table} SET {column} = ?{where}", value)  # noqa: S608


def _delete_rows(path: Path, chance: random.Random) -> None:
    table, column = _column(path, chance)
    where = chance.choice(("", f" WHERE {column} = (SELECT min({column}) FROM {table})"))  # noqa: S608 - names of ours
    _sql(path, f"DELETE FROM {table}{where}")  # noqa: S608


def _drop(path: Path, chance: random.Random) -> None:
    table, column = _column(path, chance)
    drop = f"ALTER TABLE {table} DROP COLUMN {column}"
    _sql(path, chance.choice((f"DROP TABLE {table}", drop)))


KINDS: tuple[Damage, ...] = (
    _flip_bytes, _zero, _truncate, _change_values, _delete_rows, _drop,
)  # fmt: skip


def _table(path: Path) -> str:
    with closing(Store(path)) as store:
        summary = summarise(store)
        write_deals(store, path.with_name("deals.csv"))
        return as_json(summary)


@pytest.mark.parametrize(
    "trials", [range(42), pytest.param(range(42, 342), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_damage_gives_another_table_or_a_traceback(
    trials: range, whole: Path, tmp_path: Path
) -> None:
    expected = _table(whole)
    path = tmp_path / FILE_NAME
    refused = 0
    for trial in trials:
        for leftover in tmp_path.iterdir():
            leftover.unlink()
        shutil.copy(whole, path)
        damage = KINDS[trial % len(KINDS)]
        damage(path, random.Random(trial))
        try:
            assert _table(path) == expected, (damage.__name__, trial)
        except TourneyError:
            refused += 1
        if trial % 7 == 0:
            with suppress(TourneyError):
                verify(tmp_path, Wanted(sample=0))
    assert refused > len(trials) // 2


@pytest.fixture(scope="module")
def home(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament and a league with their results in today's schema, and their bots."""
    folder = tmp_path_factory.mktemp("home") / "home"
    for name in ("bots", "league-secret"):
        shutil.copytree(FROZEN / name, folder / name)
    shutil.copy(FROZEN / "voids.yaml", folder)
    (folder / "voids").mkdir()
    shutil.copy(whole, folder / "voids")
    for path in folder.glob("league-secret/seasons/*/results.sqlite"):
        Store(path, create=True).close()
    return folder


RESULTS, SEASON = f"voids/{FILE_NAME}", f"league-secret/seasons/1/{FILE_NAME}"
COMMANDS: dict[str, tuple[str, list[str], str | None]] = {
    "standings": (RESULTS, ["standings", "voids", "--format", "json"], None),
    "publish": (RESULTS, ["publish", "voids", "--replays", "1"], "voids/standings.json"),
    "export": (RESULTS, ["export", "voids", "--deals", "deals.csv"], "deals.csv"),
    "run": (RESULTS, ["run", "voids.yaml", "--out", "voids", "--jobs", "1"], "voids/standings.csv"),
    "league": (SEASON, ["league", "league-secret", "--format", "json"], None),
    "plan": (RESULTS, ["plan", "voids.yaml", "--out", "voids", "--quick"], None),
    "verify": (RESULTS, ["verify", "voids", "--sample", "0"], None),
}
"""The file to damage, the words of a command, and the file that it writes; None for its output."""


@pytest.mark.parametrize(
    "trials",
    [range(28), pytest.param(range(28, 328), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_no_command_gives_another_table_or_a_traceback_for_a_damaged_file(
    trials: range, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "cache"))
    expected: dict[str, str] = {}
    folder = tmp_path / "home"
    for trial in (None, *trials):
        for name in COMMANDS if trial is None else [list(COMMANDS)[trial % len(COMMANDS)]]:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(home, folder)
            monkeypatch.chdir(folder)
            file, words, written = COMMANDS[name]
            label = f"{name}, trial {trial}"
            if trial is not None:
                damage = KINDS[trial // len(COMMANDS) % len(KINDS)]
                label += f", {damage.__name__}"
                damage(folder / file, random.Random(trial))
            ended = CliRunner().invoke(app, words)
            if trial is not None and ended.exit_code != 0:
                is_clear = isinstance(ended.exception, (TourneyError, SystemExit))
                assert is_clear, (label, ended.exception)
                continue
            assert ended.exit_code == 0, (label, ended.exception, ended.output)
            shown = ended.stdout if written is None else Path(written).read_text("utf-8")
            if name == "verify":  # what it has passed gives the right table
                shown = _table(folder / file)
            assert shown == expected.setdefault(name, shown), label


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM deals WHERE round = 0 AND match = 1", "stored deals can be read"),
        ("UPDATE deals SET places = '[1,2,3' WHERE round + match + deal = 0", "the deal 1.1.1"),
        ("UPDATE deals SET places = '[1,2,3,4]' WHERE round + match + deal = 0", "the deal 1.1.1"),
        ("DELETE FROM voids WHERE number = 1", "void deals are not as they were stored"),
        ("INSERT INTO decisions VALUES (9, '', 'disqualified', 0, '', '', 0, NULL)", "rulings"),
        ("UPDATE meta SET value = replace(value, 'move 1 s', 'move 2 s')", "settings"),
        ("DELETE FROM sums WHERE part = 'faults'", "1 of 0 stored faults can be read"),
        ("UPDATE sums SET sum = sum + 1 WHERE part = 'outcomes'", "can be read"),
        ("ALTER TABLE deals DROP COLUMN times", "no such column"),
    ],
)
def test_a_table_is_refused_with_what_is_wrong(
    statement: str, words: str, whole: Path, tmp_path: Path
) -> None:
    shutil.copy(whole, tmp_path)
    path = tmp_path / FILE_NAME
    _sql(path, statement)
    with pytest.raises(DamageError, match=words):
        _table(path)
    try:
        assert not verify(tmp_path, Wanted(sample=0)).passed
    except DamageError:
        assert words == "no such column"


def test_a_damaged_file_of_an_older_schema_is_neither_migrated_nor_shown(tmp_path: Path) -> None:
    shutil.copy(FROZEN / "rr-complete" / FILE_NAME, tmp_path)
    path = tmp_path / FILE_NAME
    _sql(path, "UPDATE deals SET places = '[4,3,2,1]' WHERE round + match + deal = 0")
    before = path.read_bytes()
    for create in (False, True):
        with (
            pytest.raises(DamageError, match="not as it was stored"),
            closing(Store(path, create=create)) as store,
        ):
            summarise(store)
    assert path.read_bytes() == before
