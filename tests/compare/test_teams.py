"""Two bots of a team never sit at one table, unless they are compared."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tourney_runner.compare.head_to_head import duel
from tourney_runner.config import load_config
from tourney_runner.ratings.gsprt import Rule
from tourney_runner.results.tournament_record import Seed
from tourney_runner.run.tournament_setup import make_format

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.schedule.base import Seating
    from whole_program import Arena


def _config(arena: Arena, teams: dict[str, str | None], players: int = 2) -> Path:
    bots = [
        arena.bot(name) | ({} if team is None else {"team": team}) for name, team in teams.items()
    ]
    return arena.configure(bots, rules={"players": players}, schedule={"rounds": 2})


def _tables(config_path: Path, a: str, b: str) -> list[list[str]]:
    config = duel(load_config(config_path), a, b, Rule(cap=60))
    names = tuple(entrant.name for entrant in config.entrants)
    planned = make_format(config, Seed(1, secret=False), names)
    seatings: list[Seating] = [
        table.seating
        for number in range(planned.rounds() or 0)
        for table in planned.plan(number, ()) or ()
    ]
    return [[names[entrant] for entrant in seating] for seating in seatings]


def test_mates_never_meet_and_the_team_stays(arena: Arena) -> None:
    config = _config(arena, {"a": "x", "b": "x", "c": None, "d": "y"})
    first = arena.run("run", config, "--out", "out")
    assert "1. a (team x)" in first.stderr
    with closing(sqlite3.connect(arena.path / "out" / "results.sqlite")) as db:
        tables = {
            tuple(sorted(json.loads(row[0]))) for row in db.execute("SELECT seating FROM deals")
        }
    assert (0, 1) not in tables
    assert len(tables) >= 4
    arena.run("verify", "out")
    config.write_text(config.read_text().replace("team: y", "team: z"))
    changed = arena.run("run", config, "--out", "out", status=2)
    assert "the team of the bot 'd' was y, is z" in changed.stderr


def test_the_mates_of_compared_bots_stay_away(arena: Arena) -> None:
    config = _config(arena, {"a": "x", "b": None, "m": "x", "c": None, "d": None, "e": None}, 3)
    tables = _tables(config, "a", "b")
    assert len(tables) >= 60
    assert all({"a", "b"} <= set(table) and "m" not in table for table in tables)


def test_two_of_a_team_can_be_compared(arena: Arena) -> None:
    config = _config(arena, {"a": "x", "b": "x", "c": None, "d": None, "e": None, "f": None}, 3)
    assert all({"a", "b"} <= set(table) for table in _tables(config, "a", "b"))


def test_two_at_a_table_need_no_others(arena: Arena) -> None:
    config = _config(arena, {"c": None, "a": "x", "b": "y"})
    assert {tuple(table) for table in _tables(config, "b", "a")} == {("a", "b"), ("b", "a")}
