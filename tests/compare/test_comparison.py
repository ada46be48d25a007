"""Two bots are compared with the real program."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.compare.head_to_head import duel
from tourney_runner.config import load_config
from tourney_runner.errors import UsageError
from tourney_runner.ratings.gsprt import Rule
from whole_program import until

if TYPE_CHECKING:
    from whole_program import Arena


def _field(arena: Arena) -> list[dict[str, Any]]:
    return [
        arena.bot("one"),
        arena.bundled("greedy", "good"),
        arena.bot("two", move="answer = legal[luck // 7 % len(legal)]"),
        arena.bot("three"),
        arena.bot("poor", move="answer = legal[-1]"),
    ]


def _found(arena: Arena, out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((arena.path / out / "comparison.json").read_text("utf-8"))
    return found


def _rows(arena: Arena, columns: str, out: str = "out") -> list[Any]:
    with closing(sqlite3.connect(arena.path / out / "results.sqlite")) as db:
        rows = db.execute(f"SELECT {columns} FROM deals ORDER BY round, match, deal")  # noqa: S608
        return rows.fetchall()


def test_the_better_bot_is_found_on_few_deals_of_its_own(arena: Arena) -> None:
    config = arena.configure(_field(arena))
    ended = arena.run("compare", config, "good", "one", "--jobs", 2)
    out = "results/cup.compare-good-one"
    found = _found(arena, out)
    assert ended.stdout.startswith("good against one: better\n")
    assert found["verdict"] == "better"
    assert found["lead"] > 0
    assert 20 <= found["matches"] < 200
    low, high = found["corrected"]["low"], found["corrected"]["high"]
    assert 0 < low < found["corrected"]["lead"] < high
    assert "faults: good none; one none" in ended.stdout
    assert "about 423 matches if the lead is 0 or 0.1 standard deviations" in ended.stderr
    assert "worst deals of good: " in ended.stdout
    assert f"matches: {found['matches']}, deals: {2 * found['matches']}" in ended.stdout
    assert len(_rows(arena, "round", out)) < 2 * found["matches"] + 2 * 128

    arena.run("run", config, "--out", "cup")
    own = {moves for (moves,) in _rows(arena, "moves", out)}
    assert own.isdisjoint(moves for (moves,) in _rows(arena, "moves", "cup"))

    again = arena.run("compare", config, "good", "one")
    assert again.stdout == ended.stdout
    assert "played" not in again.stderr


def test_both_sit_at_every_table_and_the_others_equally_often(arena: Arena) -> None:
    config = arena.configure(_field(arena), rules={"players": 3})
    arena.run("compare", config, "two", "poor", "--cap", 20, "--d1", 0.01, "--out", "out")
    tables = [json.loads(seating) for (seating,) in _rows(arena, "seating")]
    assert all({0, 1} <= set(table) for table in tables)
    others = Counter(entrant for table in tables for entrant in table if entrant > 1)
    assert len(others) == 3
    assert len(set(others.values())) == 1


def test_interrupted_and_with_other_workers_it_finds_the_same(arena: Arena) -> None:
    config = arena.configure(_field(arena))
    words = ("compare", config, "good", "one", "--d1", 0.02)
    whole = arena.run(*words, "--out", "whole", "--jobs", 1)
    killed = arena.start(*words, "--out", "out", "--jobs", 2)
    until(lambda: arena.deals() > 20 or killed.poll() is not None)
    killed.kill()
    killed.communicate()
    until(lambda: not arena.processes())
    again = arena.run(*words, "--out", "out", "--jobs", 2)
    assert again.stdout.replace("replay out", "replay whole") == whole.stdout
    assert _found(arena) == _found(arena, "whole")


def test_only_the_cap_may_change(arena: Arena) -> None:
    config = arena.configure(_field(arena))
    sure = ("compare", config, "one", "two", "--out", "out", "--alpha", 0.0001, "--beta", 0.0001)
    ended = arena.run(*sure, "--cap", 20)
    assert ended.stdout.startswith("one against two: undecided\n")
    assert _found(arena)["matches"] == 20
    refused = arena.run(*sure, "--d1", 0.5, status=2)
    assert "begun with d1 0.1, and only its cap may change" in refused.stderr
    arena.run(*sure, "--cap", 40)
    assert _found(arena)["matches"] == 40


def test_what_cannot_be_compared_is_refused(arena: Arena) -> None:
    config = arena.configure(_field(arena))
    ended = arena.run("compare", config, "good", "one", "--d0", 0.2, status=2)
    assert ended.stderr == "tourney: d0 0.2 must be below d1 0.1\n"
    assert not (arena.path / "results").exists()
    with pytest.raises(UsageError, match=r"there is no bot 'onne' in .*did you mean 'one'"):
        duel(load_config(config), "good", "onne", Rule())
    with pytest.raises(UsageError, match="'good' cannot be compared with itself"):
        duel(load_config(config), "good", "good", Rule())


def test_a_crash_is_a_last_place(arena: Arena) -> None:
    bots = [arena.bot("good"), arena.bot("bad", move="sys.exit(1)")]
    ended = arena.run("compare", arena.configure(bots), "bad", "good", "--out", "out")
    assert ended.stdout.startswith("bad against good: not better\nbad finished 1.000 places behind")
    found = _found(arena)
    assert found["faults"]["bad"]["crash"] >= 2 * found["matches"]
    assert found["faults"]["good"] == {}
    arena.run("verify", "out")


def test_bots_are_compared_without_a_tournament(arena: Arena) -> None:
    good, poor = (
        Path(arena.bot(name, move=move)["cwd"])
        for name, move in (("good", "answer = legal[0]"), ("poor", "answer = legal[-1]"))
    )
    for folder in (good, poor):
        text = f'name: {folder.name}\ncommand: ["{{python}}", "-E", "-S", bot.py]\n'
        (folder / "bot.yaml").write_text(text, "utf-8")
    ended = arena.run("compare", good, poor, good, "--deals", 60, "--out", "out", "--no-sandbox")
    names = {good.name, poor.name, f"{good.name}-2"}
    assert {row["name"] for row in arena.table()["entrants"]} == names
    assert arena.table()["deals"] >= 60
    for words in ("rank", "range", "95 %", f"worst deals of {poor.name}: "):
        assert words in ended.stdout
    assert "to watch one: tourney replay out DEAL" in ended.stdout
    refused = arena.run("compare", good, status=2)
    assert "one bot alone cannot be compared" in refused.stderr
