"""The same seed gives the same table, however it is played."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from whole_program import Arena

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTS = {
    "illegal at times": 'if luck // 7 % 9 == 0: answer = {"play": ["3S", "4C", "9H", "KD"]}',
    "crash at times": "if luck // 7 % 9 == 0: sys.exit(1)",
    "flood at times": "if luck // 7 % 9 == 0: print('x' * 2_000_000)",
}

GAMES: dict[str, dict[str, Any]] = {
    # The first and the last differ in everything; --slow runs the mixtures as well.
    "duplicate Tien Len": {"game": "tienlen", "rules": {"players": 3}},
    "duplicate Speahx, two rotations": {
        "game": "speahx",
        "rules": {"players": 3, "max_turns": 60},
        "match": {"duplicate": 2},
    },
    "Tien Len to a target, previous winner leads": {
        "game": "tienlen",
        "rules": {"players": 3},
        "match": {"duplicate": False, "target": 4},
    },
    "Speahx, deals in a row, dealer rotates, faults substituted": {
        "game": "speahx",
        "rules": {"players": 3, "max_turns": 60},
        "match": {"duplicate": False, "deals": 2},
        "on_fault": "substitute",
        "max_faults": 2,
    },
}

ENDS = (*GAMES.values(),)[:: len(GAMES) - 1]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(keys, id=name, marks=() if keys in ENDS else pytest.mark.slow)
        for name, keys in GAMES.items()
    ],
)
def test_any_number_of_workers_gives_the_same_bytes(keys: dict[str, Any], arena: Arena) -> None:
    bots = [arena.bot("ends with every deal", result="sys.exit(3)")]
    bots += [arena.bot(name, move=move) for name, move in FAULTS.items()]
    config = arena.configure(bots, **keys)
    for jobs in (1, 3):
        arena.run("run", config, "--out", jobs, "--jobs", jobs)
    assert arena.files("1") == arena.files("3")
    kinds = {kind for row in arena.table("1")["entrants"] for kind in row["faults"]}
    assert len(kinds) >= 3  # else this would have tried little
    assert arena.rows("1")["ends with every deal"]["faults"] == {}


def test_one_worker_on_its_core_and_five_without_give_the_same_bytes(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    config = arena.configure(bots, schedule={"rounds": 2})
    arena.run("run", config, "--out", "1", "--jobs", 1)
    arena.run("run", config, "--out", "5", "--jobs", 5, "--no-pin")
    assert arena.files("1") == arena.files("5")


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A tournament that was played with two workers."""
    arena = Arena(tmp_path_factory.mktemp("cup"))
    config = arena.configure([arena.bot("one"), arena.bot("two")], name="Cup")
    arena.run("run", config, "--out", "out", "--jobs", 2)
    yield arena
    arena.close()


def test_tables_hold_no_time_no_place_and_no_job(cup: Arena) -> None:
    table = cup.table()
    assert list(table)[:3] == ["format_version", "name", "game"]
    assert {"name", "game", "seed", "seed_sha256", "sealed", "deals", "complete"} <= set(table)
    told = "rank name mu sigma score matches deals points mean_place places faults"
    assert set(told.split()) <= set(table["entrants"][0])
    for text in cup.files().values():
        assert str(cup.path) not in text
        assert not re.search(r"20\d\d-\d\d|\d\d:\d\d|jobs|workers", text)


def test_another_seed_gives_other_deals(cup: Arena) -> None:
    cup.run("run", "cup.yaml", "--out", "other", "--seed", 2)
    assert (cup.table()["seed"], cup.table("other")["seed"]) == (1, 2)
    assert _moves(cup, "out").isdisjoint(_moves(cup, "other"))


def _moves(arena: Arena, out: str) -> set[str]:
    with closing(sqlite3.connect(arena.path / out / "results.sqlite")) as db:
        return {moves for (moves,) in db.execute("SELECT moves FROM deals")}
