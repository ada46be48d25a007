"""Deals that the host made void: played again, at last alone, and what a bot gains by it."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whole_program import Arena

STOP_WORKER = """
worker = os.getppid()
os.kill(worker, signal.SIGSTOP)
time.sleep(0.3)
os.kill(worker, signal.SIGCONT)
time.sleep(1)
"""
"""Without a sandbox a bot can do to its worker what a bad host does."""


def test_a_bot_that_makes_its_deals_void_loses_them_and_costs_nobody_else(arena: Arena) -> None:
    bots = [arena.bot("voider", move=STOP_WORKER), arena.bot("one"), arena.bot("two")]
    time = {"start": "60s", "move": "500ms"}
    config = arena.configure(bots, match={"duplicate": False}, time=time)
    arena.run("run", config, "--out", "out", "--jobs", 2, "--no-pin")
    rows = arena.rows()
    assert arena.table()["complete"]
    assert rows["voider"]["faults"] == {"timeout": 2}
    assert rows["voider"]["mean_place"] == 2
    assert rows["one"]["faults"] == rows["two"]["faults"] == {}
    with sqlite3.connect(arena.path / "out" / "results.sqlite") as db:
        voids = [json.loads(row[0] or "[]") for row in db.execute("SELECT voids FROM deals")]
    assert sorted(map(len, voids)) == [0, 2, 2]
    assert all("held up" in reason for reasons in voids for reason in reasons)
    assert arena.is_clean()
