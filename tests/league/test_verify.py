"""A folder of results that was changed is found out; one that was not passes, again and again."""

from __future__ import annotations

import json
import signal
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml
from tourney_runner.decisions.sanctions import rule
from tourney_runner.errors import UsageError
from tourney_runner.results.records import FaultRecord
from tourney_runner.results.row_codec import digest
from tourney_runner.results.store import Store
from tourney_runner.verify.bots_check import AvailableBots, as_then, available_bots
from tourney_runner.verify.verification import Wanted, verify
from whole_program import until

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from whole_program import Arena

    Tamper = Callable[[sqlite3.Connection, Path], object]

NOTHING_PLAYED = Wanted(sample=0)


def _one_byte_of_a_move(sql: sqlite3.Connection, _: Path) -> None:
    (moves,) = sql.execute(
        "SELECT moves FROM deals WHERE (round, match, deal) = (1, 2, 0)"
    ).fetchone()
    changed = chr(ord(moves[-1]) ^ 1)
    sql.execute(
        "UPDATE deals SET moves = ? WHERE (round, match, deal) = (1, 2, 0)", (moves[:-1] + changed,)
    )


def _edit_table(_: sqlite3.Connection, folder: Path) -> None:
    path = folder / "standings.csv"
    path.write_text(path.read_text("utf-8").replace("two", "Two"), "utf-8")


def _edit_page(name: str) -> Tamper:
    def edit(_: sqlite3.Connection, folder: Path) -> None:
        path = folder / name
        text = path.read_text("utf-8")
        at = next(at for at in range(len(text) // 2, len(text)) if text[at].isdecimal())
        path.write_text(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}", "utf-8")

    return edit


REST = (
    "deal, seating, start, moves, places, points, times, debug, slow, voids, digest, outcome_sum,"
    " row_sum FROM deals"
)
TAMPERED: dict[str, tuple[str | Tamper, str]] = {
    "one byte of a move": (_one_byte_of_a_move, "store"),
    "a row deleted": ("DELETE FROM deals WHERE round + match + deal = 0", "schedule"),
    "the last row deleted": (
        "DELETE FROM deals WHERE (round, match, deal) = (1, 3, 1)",
        "schedule",
    ),
    "places swapped": ("UPDATE deals SET places = '[2,1]' WHERE round + match + deal = 0", "store"),
    "points changed": (
        "UPDATE deals SET points = '[9.0,9.0]' WHERE round + match + deal = 0",
        "rules",
    ),
    "others seated": (
        "UPDATE deals SET seating = '[0,0]' WHERE round + match + deal = 0",
        "schedule",
    ),
    "another plan stored": (
        "UPDATE planned SET seating = '[0,0]' WHERE round + match = 0",
        "schedule",
    ),
    "a planned match deleted": ("DELETE FROM planned WHERE round + match = 0", "schedule"),
    "a deal nobody planned": (
        f"INSERT INTO deals SELECT 0, 99, {REST} WHERE round + match + deal = 0",
        "schedule",
    ),
    "a whole round added": (
        f"INSERT INTO deals SELECT 7, match, {REST} WHERE round = 1",
        "schedule",
    ),
    "a fault invented": (
        "INSERT INTO faults VALUES (0, 0, 0, 0, 0, 0, 'crash', 0, '', '', '', '', 0)",
        "store",
    ),
    "the published table edited": (_edit_table, "tables"),
    "the first page edited": (_edit_page("index.html"), "tables"),
    "a page of a bot edited": (_edit_page("site/bots/001.html"), "tables"),
    "the page of charts edited": (_edit_page("site/charts.html"), "tables"),
    "a badge edited": (_edit_page("site/badges/001.svg"), "tables"),
}


def test_an_untouched_folder_passes_twice(cup: Arena, out: Path) -> None:
    before = (out / "results.sqlite").read_bytes()
    reports = [json.loads(cup.run("verify", out, "--sample", 3, "--json").stdout) for _ in "12"]
    for report in reports:
        assert report["passed"]
        assert (report["deals"], report["played"], report["findings"]) == (16, 3, [])
    assert (out / "results.sqlite").read_bytes() == before


@pytest.mark.parametrize(("tamper", "where"), TAMPERED.values(), ids=TAMPERED.keys())
def test_what_was_changed_is_found(
    tamper: str | Tamper, where: str, out: Path, sql: sqlite3.Connection
) -> None:
    if isinstance(tamper, str):
        assert sql.execute(tamper).rowcount
    else:
        tamper(sql, out)
    reports = [verify(out, NOTHING_PLAYED) for _ in "12"]
    assert reports[0] == reports[1]
    assert where in {finding.where for finding in reports[0].findings}


def test_tables_of_a_tournament_that_goes_on_may_be_older_but_not_changed(
    cup: Arena, out: Path, sql: sqlite3.Connection
) -> None:
    bots = yaml.safe_load((cup.path / "cup.yaml").read_text("utf-8"))["bots"]
    longer = cup.configure(bots, file="longer.yaml", schedule={"rounds": 5000})
    run = cup.start("run", longer, "--out", out)
    until(lambda: cup.deals(out.name) > 16)
    run.send_signal(signal.SIGINT)
    cup.end(run, 130)
    older = verify(out, NOTHING_PLAYED)
    assert older.passed
    assert any("tourney publish writes them again" in note for note in older.notes)
    cup.run("publish", out, "--replays", 0)
    assert verify(out, NOTHING_PLAYED).notes[1:] == ()
    _edit_table(sql, out)
    assert {finding.where for finding in verify(out, NOTHING_PLAYED).findings} == {"tables"}


def test_of_much_that_is_wrong_the_first_of_each_kind_is_listed_and_the_rest_counted(
    out: Path, sql: sqlite3.Connection
) -> None:
    for match in range(100, 115):  # 15 in each round, and between them what the rules find
        sql.execute(f"INSERT INTO deals SELECT round, {match}, {REST} WHERE match + deal = 0")
    sql.execute("UPDATE deals SET points = '[9.0,9.0]' WHERE round = 1 AND match < 100")
    report = verify(out, NOTHING_PLAYED)
    schedule = [finding for finding in report.findings if finding.where == "schedule"]
    assert [finding.text for finding in schedule[20:]] == ["and 10 more of this kind"]
    found = Counter(finding.where for finding in report.findings)
    assert (found["store"], found["schedule"], found["rules"]) == (21, 21, 8)
    assert report.wrong == 38 + 2 + 30 + 8  # 2 rounds have too many deals


def test_whoever_forges_the_digest_too_is_found_by_the_rules(
    out: Path, sql: sqlite3.Connection
) -> None:
    sql.execute(
        "UPDATE deals SET places = '[2,1]', points = '[1.0,2.0]' WHERE round + match + deal = 0"
    )
    row = sql.execute("SELECT * FROM deals WHERE round + match + deal = 0").fetchone()
    other = sql.execute("SELECT * FROM deals WHERE (round, match, deal) = (0, 1, 0)").fetchone()
    for forged in (row, (*row[:5], other[5], *row[6:])):  # results, then the moves of another deal
        values = (forged[5], digest(forged[:-1], []))
        sql.execute("UPDATE deals SET moves = ?, digest = ? WHERE round + match + deal = 0", values)
        findings = verify(out, NOTHING_PLAYED).findings
        assert {finding.where for finding in findings} >= {"rules"}
        assert {finding.deal for finding in findings if finding.where == "rules"} == {1}


def test_a_deal_that_its_bots_would_not_have_played_is_found(cup: Arena, out: Path) -> None:
    """The rules allow the moves, the digest is right; only the bots themselves tell."""
    store = Store(out / "results.sqlite", create=True)
    deals = enumerate(store.records(), start=1)
    number, record = next((n, record) for n, record in deals if 3 not in record.seating)
    loser = record.places.index(2)
    fault = FaultRecord(loser, record.seating[loser], "illegal", 0, "forged")
    forged = msgspec.structs.replace(record, moves=f"!{loser}", faults=(fault,))
    store.exchange([record.key], [forged], "forged", "2000-01-01T00:00:00+00:00")
    store.close()
    ended = cup.run("verify", out, "--deal", number, status=1)
    assert f"WRONG (play): deal {number}: move 1 of" in ended.stdout


def test_a_bot_with_randomness_of_its_own_is_named_and_passes(cup: Arena, out: Path) -> None:
    store = Store(out / "results.sqlite")
    deals = [n for n, record in enumerate(store.records(), start=1) if 3 in record.seating][:3]
    store.close()
    ended = cup.run("verify", out, *(word for deal in deals for word in ("--deal", deal)))
    assert "lucky has randomness of its own" in ended.stdout
    assert "all is as it should be" in ended.stdout


def test_bots_that_are_not_at_hand_are_named_and_can_be_given(cup: Arena, out: Path) -> None:
    elsewhere = {"TOURNEY_CACHE": str(out / "cache")}
    ended = cup.run("verify", out, env=elsewhere)
    assert "not in the cache of staged bots: one (hash " in ended.stdout
    assert "0 played again" in ended.stdout
    config = cup.path / "cup.yaml"
    ended = cup.run("verify", out, "--deal", 1, "--config", config, env=elsewhere)
    assert "1 played again" in ended.stdout


def test_results_of_a_newer_version_are_refused(out: Path, sql: sqlite3.Connection) -> None:
    sql.execute("PRAGMA user_version = 99")
    for _ in "12":
        with pytest.raises(UsageError, match="newer version of tourney"):
            verify(out, NOTHING_PLAYED)
        with pytest.raises(UsageError, match="newer version of tourney"):
            rule(out, "disqualified", "one", "it is")


def test_bots_are_started_as_in_the_run_or_it_is_told(cup: Arena, out: Path) -> None:
    store = Store(out / "results.sqlite", create=True)
    assert store.tournament().started_in == "limits"
    cast = available_bots(store)
    for trusted in (True, False):
        bots = [
            msgspec.structs.replace(bot, command=("bot",), trusted=trusted) for bot in cast.bots
        ]
        mode, told = as_then(store, AvailableBots(tuple(bots), {}))
        assert (mode == "limits") == trusted
        assert ("for bots that are trusted here" in told) != trusted
    store.change(started_in="bwrap")
    store.close()
    ended = cup.run("verify", out, "--deal", 1, env={"PATH": str(out)})
    assert "the run had sandbox: bwrap, which is not to be had here" in ended.stdout


def test_results_that_know_of_no_teams_are_read_and_keep_their_bots_apart_from_new_ones(
    cup: Arena, out: Path
) -> None:
    """Earlier versions stored none."""
    store = Store(out / "results.sqlite", create=True)
    bots = [msgspec.structs.replace(bot, team=None) for bot in store.tournament().entrants]
    store.change(entrants=tuple(bots))
    store.close()
    assert verify(out, NOTHING_PLAYED).passed
    document = yaml.safe_load((cup.path / "cup.yaml").read_text("utf-8"))
    document["bots"][0]["team"] = "ann"
    config = cup.configure(**document, file="teams.yaml")
    ended = cup.run("run", config, "--out", out, status=2)
    assert "the team of the bot 'one' was none, is ann" in ended.stderr


def test_results_under_rules_that_this_version_has_otherwise_are_refused(out: Path) -> None:
    store = Store(out / "results.sqlite", create=True)
    rules = store.tournament().rules
    for change in ({"hands_of": 99}, {"players": 1}):
        store.change(rules=rules | change)
        with pytest.raises(UsageError, match="under rules that this version"):
            verify(out, NOTHING_PLAYED)
    store.close()
