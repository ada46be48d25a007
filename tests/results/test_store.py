"""The results file: what is kept, what is refused, and what happens twice."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tourney_runner.errors import DamageError, RunError, UsageError
from tourney_runner.results import database
from tourney_runner.results.records import DealKey, DealRecord, FaultRecord, Note, SeatTime
from tourney_runner.results.store import ALL, SCHEMA_VERSION, Store
from tourney_runner.run.progress import Progress, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def deal(*key: int, seating: tuple[int, ...] = (0, 1), faults: tuple[str, ...] = ()) -> DealRecord:
    """A deal; who is at `seating[0]` has the faults."""
    return DealRecord(
        key=DealKey(*key),
        seating=seating,
        start=None,
        moves="a b !1",
        places=(2, 1) if faults else (1, 2),
        points=(0.0, 3.5),
        times=(SeatTime(2, 20, 15), SeatTime(1, 10, 10)),
        faults=tuple(
            FaultRecord(0, seating[0], kind, 1, "a cause", "request", "answer", "stderr")  # type: ignore[arg-type]
            for kind in faults
        ),
        debug=((0, 1, "hm"),),
        notes=(Note(0, "stderr", "a note"),),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "results.sqlite", create=True)) as store:
        yield store


def test_a_deal_comes_back_as_it_was_but_for_its_notes(store: Store) -> None:
    kept = deal(0, 1, 2, faults=("crash", "illegal"))
    store.add([kept])
    [found] = store.records()
    assert found.notes == ()
    assert [getattr(found, name) for name in found.__struct_fields__ if name != "notes"] == [
        getattr(kept, name) for name in kept.__struct_fields__ if name != "notes"
    ]


def test_deals_come_in_the_order_of_the_schedule_whatever_came_first(store: Store) -> None:
    keys = [(1, 0, 0), (0, 2, 1), (0, 10, 0), (0, 2, 0)]
    for key in keys:
        store.add([deal(*key)])
    assert [tuple(record.key) for record in store.records()] == sorted(keys)
    assert [tuple(record.key) for record in store.records(range(1, 2))] == [(1, 0, 0)]
    assert store.keys(range(1), 1) == {(0, 2, 0), (0, 10, 0)}
    assert tuple(store.record(2).key) == (0, 2, 1)
    for number in (0, 5):
        with pytest.raises(UsageError, match=f"no deal {number}"):
            store.record(number)


def test_a_deal_that_is_played_twice_counts_once_and_stays_as_it_was(store: Store) -> None:
    assert store.add([deal(0, 0, 0, faults=("crash",))]) == 1
    assert store.add([deal(0, 0, 0), deal(0, 0, 1)]) == 1
    assert store.count() == 2
    assert [len(record.faults) for record in store.records()] == [1, 0]


def test_a_chunk_is_kept_whole_or_not_at_all(store: Store) -> None:
    def chunk() -> Iterator[DealRecord]:
        yield deal(0, 0, 0)
        raise RuntimeError("the second deal cannot be had")

    with pytest.raises(RuntimeError):
        store.add(chunk())
    assert store.count() == 0
    store.add([deal(0, 0, 0)])  # and the store goes on


def test_a_note_is_kept_as_json(store: Store) -> None:
    store.keep_note("one", ["zwei", None])
    with pytest.raises(TypeError):
        store.keep_note("one", object())
    assert (store.note("one"), store.note("two")) == (["zwei", None], None)


def test_who_failed_all_through_a_round(store: Store) -> None:
    store.add(
        [
            deal(0, 0, 0, faults=("crash",)),
            deal(0, 1, 0, seating=(1, 0)),  # entrant 0 played this one well
            deal(1, 0, 0, faults=("crash",)),
            deal(1, 1, 0, seating=(0, 2), faults=("illegal",)),
            deal(2, 0, 0, seating=(2, 1), faults=("flood",)),
        ]
    )
    assert store.faulted_throughout(range(3)) == [(1, 0), (2, 2)]
    assert store.faulted_throughout(range(1)) == []


def test_the_plan_of_a_round_that_has_begun_is_kept(store: Store) -> None:
    store.plan(range(2), ALL, {(0, 0): (0, 1), (0, 1): (2, 3), (1, 0): (0, 2)})
    store.add([deal(0, 0, 0)])
    store.plan(range(2), ALL, {(0, 0): (0, 1), (0, 1): (2, 3), (1, 0): (3, 1)})
    kept = store.planned_tables()
    assert kept == {(0, 0): (0, 1), (0, 1): (2, 3), (1, 0): (3, 1)}
    with pytest.raises(RunError, match="round 1 was begun with other tables"):
        store.plan(range(1), ALL, {(0, 0): (0, 1), (0, 1): (3, 2)})
    assert store.planned_tables() == kept
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE planned SET seating = '[2,1]' WHERE round = 1")
    with pytest.raises(DamageError, match="planned tables can be read; it concerns round 2"):
        store.planned_tables()


def test_a_part_of_a_large_round_is_read_and_checked(store: Store) -> None:
    store.add(deal(number, match, 0) for number in range(2) for match in range(300))
    store.plan(range(1), range(128, 256), {(0, match): (0, 1) for match in range(128, 256)})
    for part in (range(128), range(128, 256), range(256, ALL.stop), range(70, 71)):
        found = [record.key.match for record in store.records(range(1), part)]
        assert found == [match for match in range(300) if match in part]
    assert len(store.planned_tables(range(1), range(128, 256))) == 128
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE deals SET places = '[2,1]' WHERE round = 0 AND match = 200")
    assert len(list(store.records(range(1), range(128)))) == 128
    with pytest.raises(DamageError, match=r"the deal 1\.201\.1"):
        list(store.records(range(1), range(128, 256)))


def test_it_can_be_read_while_it_is_written(store: Store) -> None:
    store.add([deal(0, 0, 0)])
    with closing(Store(store.path)) as reader:
        first = next(reader.records())
        store.add([deal(0, 0, 1)])
        assert tuple(first.key) == (0, 0, 0)
        assert reader.count() == 2


def test_it_is_one_plain_file_when_it_is_closed(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "results.sqlite", create=True)) as store:
        store.add([deal(0, 0, 0)])
    assert [path.name for path in tmp_path.iterdir()] == ["results.sqlite"]


def test_what_is_no_results_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with pytest.raises(UsageError, match="there are no results here"):
        Store(path)
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="no tournament was begun here"):
        Store(path)
    assert path.read_bytes() == b""
    path.write_bytes(b"some text that is no database" * 100)
    for create in (False, True):
        with pytest.raises(UsageError, match="this is not a results file"):
            Store(path, create=create)


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_a_file_of_another_program_or_a_newer_version_is_refused(
    version: int, tmp_path: Path
) -> None:
    path = tmp_path / "results.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE deals (other)")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
    for create in (False, True):
        with pytest.raises(
            UsageError, match=r"written by another program or an? (older|newer) version"
        ):
            Store(path, create=create)


def test_a_file_that_is_damaged_ends_the_run_with_words(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with closing(Store(path, create=True)) as store:
        store.add(deal(0, match, 0) for match in range(500))
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    path.write_bytes(data)
    with (
        closing(Store(path)) as store,
        pytest.raises(DamageError, match="this file is damaged"),
    ):
        list(store.records())


def test_counts_after_an_interruption_come_from_all_rows(store: Store) -> None:
    store.add([deal(0, 0, 0, faults=("crash",)), deal(0, 0, 1), deal(0, 1, 0)])
    progress = Progress(None, [Tally("one"), Tally("two")], matches=5)
    progress.add(next(store.records()), earlier=True)  # the first block alone
    assert progress.share == "1 deal, 0 of 5 matches"
    progress.recount(store.outcomes())
    assert progress.share == "3 deals"
    assert [tally.deals for tally in progress.tallies] == [3, 3]
    assert [tally.faults for tally in progress.tallies] == [1, 0]


HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_lock_of_another_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.sqlite"
    with closing(Store(path, create=True)) as store:
        store.add([deal(0, 0, 0)])
    monkeypatch.setattr(database, "_PATIENCE", 0.2)  # a minute, for users
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        with pytest.raises(RunError, match=f"process {holder.pid}"):
            Store(path)
        holder.communicate()
    with closing(Store(path)) as store:
        assert store.count() == 1


def test_a_deleted_file_is_not_called_safe(store: Store) -> None:
    store.add([deal(0, 0, 0)])
    store.path.unlink()
    with pytest.raises(RunError, match="deleted or moved"):
        store.add([deal(0, 0, 1)])
