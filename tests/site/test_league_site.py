"""A league's site: the front page over all seasons, and decisions that hold in all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from made import make_results
from test_keeping import call, refusal
from tourney_runner.league.seasons import barred_bots

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

NAMES = ("planner", "greedy", "random", "<b>Zoë</b> 漢字")


@pytest.fixture
def league(tmp_path: Path) -> Path:
    folder = tmp_path / "league"
    call("league", "init", folder, "--name", "Kings & <i>Queens</i>")
    for season, matches in (("2026-autumn", 3), ("2027-spring", 5)):
        make_results(folder / "seasons" / season, NAMES, matches=matches)
    return folder


def test_the_front_page_has_seasons_winners_and_moves(
    league: Path, tmp_path: Path, look: Callable[..., Page]
) -> None:
    for _ in range(2):  # over the site of the first time, too
        call("league", "publish", league, "--to", tmp_path / "public")
    page = look(tmp_path / "public" / "index.html")
    assert page.title() == "Kings & <i>Queens</i>"
    assert page.locator("#standings tbody tr").count() == len(NAMES)
    assert page.locator("#standings th").all_inner_texts()[-2:] == ["2026-autumn", "2027-spring"]
    moves = page.locator("#standings tbody tr td:nth-child(2)").all_inner_texts()
    table = json.loads((tmp_path / "public" / "league.json").read_text())
    for row, move in zip(table["rows"], moves, strict=True):
        step = row["before"] - row["rank"]
        assert move == ("=" if step == 0 else f"{'▲' if step > 0 else '▼'} {abs(step)}")
    page.get_by_role("link", name="2027-spring").click()
    assert "A made tournament" in page.locator("h1").inner_text()


def test_a_bot_is_disqualified_in_all_seasons_and_taken_back(league: Path) -> None:
    told = call("league", "disqualify", league, "greedy", "--reason", "it copied planner")
    assert told.count("greedy is disqualified") == 2
    assert barred_bots(league / "seasons") == {"greedy": "it copied planner"}
    for season in ("2026-autumn", "2027-spring"):
        assert "it copied planner" in (league / "seasons" / season / "standings.md").read_text()
    assert "greedy" not in call("league", league)
    assert "no bot 'gredy'" in refusal("league", "disqualify", league, "gredy", "--reason", "x")
    told = call("league", "disqualify", league, "greedy", "--undo")
    assert told.count("greedy is no longer disqualified") == 2
    assert barred_bots(league / "seasons") == {}
    assert "is not disqualified in all" in refusal(
        "league", "disqualify", league, "greedy", "--undo"
    )
