"""A league goes on by itself: only what is new is played, and what has changed is told once."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

from tourney_runner.league.league_table import league_table
from tourney_runner.league.seasons import current, season_folders

if TYPE_CHECKING:
    from whole_program import Arena


def test_a_league_from_its_first_run_to_its_second_season(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    rules = {"players": 2, "instant_wins": []}  # or the secret cards may decide a deal at once
    keys = {"seed": "secret", "name": "Liga", "schedule": {"rounds": 1}, "rules": rules}
    league = arena.configure(bots, **keys)
    seasons = arena.path / "seasons"
    first = arena.run("season", league, "--jobs", 1)
    assert "Liga, season 1: 6 deals more; " in first.stdout
    assert first.stdout == (seasons / "1" / "changes.txt").read_text("utf-8")
    table = arena.table("seasons/1")
    assert table["complete"]
    assert table["seed"] is None  # others may still join, and must not know the deals

    again = arena.run("season", league, "--json")
    assert "played" not in again.stderr
    news = json.loads(again.stdout)
    assert (news["deals"], news["moves"], news["faults"]) == (0, [], [])
    assert "nothing new" in (seasons / "1" / "changes.txt").read_text("utf-8")

    bad = arena.bot("bad", move='answer = {"play": ["3S", "4C"]}')
    dead = arena.bot("dead", first="sys.exit(1)")
    league = arena.configure([*bots[:2], bad, dead], **keys)
    news = json.loads(arena.run("season", league, "--json", "--jobs", 1).stdout)
    assert news["rulings"] == {"three": "withdrawn"}
    assert {"name": "bad", "kind": "illegal", "count": news["deals"]} in news["faults"]
    assert {"name": "bad", "before": None, "after": 4} in news["moves"]
    assert "dead" not in arena.rows("seasons/1")

    arena.run("season", league, "--season", "autumn", "--jobs", 1)
    assert [folder.name for folder in season_folders(league)] == ["1", "autumn"]
    assert current(league) == "autumn"
    assert arena.table("seasons/1")["sealed"]
    assert arena.table("seasons/autumn")["sealed"]
    result = league_table(league)
    assert result.seasons == ("1", "autumn")
    rows = {row.name: row for row in result.rows}
    assert rows["bad"].points == 0
    assert set(rows["three"].ranks) == {"1"}
    ranks = [
        [row.ranks[name] for row in result.rows if name in row.ranks] for name in ["1", "autumn"]
    ]
    assert list(map(len, ranks)) == [4, 3]
    apart = sum(one != other for season in ranks for one, other in combinations(season, 2))
    assert sum(row.points for row in result.rows) == apart > 0
    assert json.loads((seasons / "league.json").read_text("utf-8"))["seasons"] == ["1", "autumn"]
    assert "| bot |" in arena.call("league", arena.path, "--format", "md").stdout
    for season in ("1", "autumn"):
        deals = arena.deals(f"seasons/{season}")
        closed = arena.run("season", league, "--season", season, "--close", "--jobs", 1).stdout
        assert closed.endswith(f"the seed: {arena.table(f'seasons/{season}')['seed']}\n")
        assert arena.deals(f"seasons/{season}") == deals


def test_a_season_needs_a_name_that_can_be_a_folder(arena: Arena) -> None:
    league = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = arena.run("season", league, "--season", "../elsewhere", status=2)
    assert "cannot name a season" in ended.stderr
