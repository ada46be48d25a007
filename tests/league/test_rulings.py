"""Disqualified, withdrawn, and back again: the deals stay as they are, the tables follow."""

from __future__ import annotations

import re
import signal
import time
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.cli.app import app
from tourney_runner.decisions.sanctions import rule, undo
from tourney_runner.errors import UsageError
from tourney_runner.publish.summary import summarise
from tourney_runner.results.store import Store
from tourney_runner.schedule.registry import format_class
from tourney_runner.verify.verification import Wanted, verify
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path

    from whole_program import Arena

TABLES = ("standings.json", "standings.csv", "standings.md", "site/standings.tex")


def _tables(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text("utf-8") for name in TABLES}


def _deals(folder: Path) -> list[Any]:
    store = Store(folder / "results.sqlite")
    records = list(store.records())
    store.close()
    return records


def test_deals_of_a_disqualified_bot_count_for_nobody_and_come_back(cup: Arena, out: Path) -> None:
    before, deals = _tables(out), _deals(out)
    words = ("disqualify", out, "two", "--reason", "copied |\n from\x1b *one*")
    assert "two is disqualified now" in cup.run(*words).stdout
    without = _tables(out)
    rows = cup.rows(out.name)
    left = [record for record in deals if 1 not in record.seating]
    assert cup.table(out.name)["deals"] == len(left) < len(deals)
    for number, name in enumerate(("one", "two", "three", "lucky")):
        expected = sum(number in record.seating for record in left)
        assert rows[name]["deals"] == expected
    assert list(rows)[-1] == "two"
    assert rows["two"]["disqualified"] == "copied | from *one*"
    assert "disqualified" not in rows["one"]
    assert "| - | ~~two~~ |" in without["standings.md"]
    assert without["standings.csv"].splitlines()[-1].startswith(",two,")
    shown = cup.run("standings", out).stdout
    assert re.search(r"│ +- │ two ", shown)
    assert "two is disqualified: copied | from *one*" in shown
    assert "<s><a" in (out / "site" / "index.html").read_text("utf-8")
    assert "copied | from *one*" in (out / "site" / "index.html").read_text("utf-8")

    written = cup.run("export", out, "--deals", out / "deals.csv").stdout
    assert f"{len(left)} deals; {len(deals) - len(left)} that do not count are left out" in written
    assert ",two," not in (out / "deals.csv").read_text("utf-8")

    summary, line = rule(out, "disqualified", "two", "another reason")  # a second time
    assert "already: copied" in line
    assert _tables(out) == without
    assert summary.entrants[-1].deals == 0
    assert verify(out, Wanted(sample=0)).passed

    for said in ("is no longer disqualified", "taken back already"):
        _, line = undo(out, "disqualified", "two")
        assert said in line
        assert _tables(out) == before
        assert _deals(out) == deals
    assert verify(out, Wanted(sample=0)).passed


def test_a_decision_that_is_cut_off_is_taken_or_not_and_can_be_taken_again(
    cup: Arena, out: Path
) -> None:
    before = _tables(out)
    words = ("disqualify", out, "two", "--reason", "it was")
    began = time.monotonic()
    cup.end(cup.start(*words))
    whole = time.monotonic() - began
    expected = _tables(out)
    for share in (0.7, 0.95):
        undo(out, "disqualified", "two")
        assert _tables(out) == before
        process = cup.start(*words)
        time.sleep(whole * share)
        process.send_signal(signal.SIGKILL)
        cup.end(process, status=None)
        store = Store(out / "results.sqlite")
        summarise(store)  # whatever came of it can be read
        store.close()
        rule(out, "disqualified", "two", "it was")
        assert _tables(out) == expected
        assert verify(out, Wanted(sample=0)).passed


def test_who_is_withdrawn_keeps_his_deals_and_plays_no_more_until_it_is_taken_back(
    arena: Arena,
) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three", "four")]
    config = arena.configure(bots)
    arena.run("run", config, "--out", "out", "--jobs", 1)
    out = arena.path / "out"
    first = arena.rows()
    rule(out, "withdrawn", "two", "its author is away")
    rule(out, "withdrawn", "two", "a second time")
    assert {name: row["deals"] for name, row in arena.rows().items()} == {
        name: row["deals"] for name, row in first.items()
    }
    without = [bots[0], *bots[2:]]
    config = arena.configure(without, schedule={"rounds": 3})
    arena.run("run", config, "--out", "out", "--jobs", 1)
    rows = arena.rows()
    assert rows["two"]["deals"] == first["two"]["deals"]
    assert rows["two"]["withdrawn"]
    assert rows["one"]["deals"] == rows["three"]["deals"] == 3 * first["one"]["deals"]
    assert verify(out, Wanted(sample=0)).passed

    undo(out, "withdrawn", "two")
    assert not arena.table()["complete"]
    config = arena.configure(bots, schedule={"rounds": 3})
    arena.run("run", config, "--out", "out", "--jobs", 1)
    assert arena.rows()["two"]["deals"] == 3 * first["two"]["deals"]
    assert verify(out, Wanted(sample=0)).passed


@pytest.mark.parametrize(
    ("schedule", "follows"),
    [
        ({"format": "swiss", "games": 1}, "paired without it"),
        ({"format": "gauntlet", "challengers": ["one"]}, "planned for the others"),
    ],
)
def test_a_bot_can_leave_where_rounds_are_planned_otherwise(
    arena: Arena, schedule: dict[str, Any], follows: str
) -> None:
    names = ("one", "two", "three", "four", "five")
    bots = [arena.bot(name) for name in names]
    config = arena.configure(bots, rules={"players": 2}, schedule={**schedule, "rounds": 2})
    arena.run("run", config, "--out", "out", "--jobs", 1)
    first = arena.rows()
    left = arena.run("withdraw", "out", "two").stdout
    assert "two is withdrawn now; all rounds are played and stand" in left
    assert f"withdrawn after {first['two']['deals']} deals" in " ".join(left.split())
    undo(arena.path / "out", "withdrawn", "two")
    config = arena.configure(bots, rules={"players": 2}, schedule={**schedule, "rounds": 4})
    rule(arena.path / "out", "withdrawn", "two", "its author is away")
    arena.run("run", config, "--out", "out", "--jobs", 1)
    rows = arena.rows()
    assert rows["two"]["deals"] == first["two"]["deals"]
    assert rows["one"]["deals"] > first["one"]["deals"]
    assert verify(arena.path / "out", Wanted(sample=0)).passed
    assert follows in format_class(schedule["format"]).on_leaving


def test_a_withdrawal_to_come_waits_for_its_day(out: Path) -> None:
    today = datetime.now(UTC).date()
    day = today + timedelta(days=2)
    summary, line = rule(out, "withdrawn", "two", "holidays", day)
    assert line == f"two is withdrawn from {day} on"
    assert summary.ruling("two")
    assert summary.rulings[0].from_round is None
    undo(out, "withdrawn", "two")
    summary, _ = rule(out, "withdrawn", "two", "holidays", date(2020, 2, 2))
    assert summary.rulings[0].from_round == 2


@pytest.mark.parametrize("word", ["yesterday", "2026-02-30", "30.11.2026"])
def test_what_is_no_day_is_answered_with_one(word: str) -> None:
    done = CliRunner().invoke(app, ["withdraw", "out", "two", "--from", word])
    assert done.exit_code == 2
    assert f"found '{word}', expected a day such as 2026-11-30" in done.output


def test_a_day_is_taken_from_the_command_line(out: Path) -> None:
    words = ["withdraw", str(out), "two", "--from", "2999-12-31"]
    assert "two is withdrawn from 2999-12-31 on" in CliRunner().invoke(app, words).output


def test_wrong_names_are_answered_with_the_nearest(out: Path) -> None:
    with pytest.raises(UsageError, match=r"the bots are .* and two; did you mean 'two'"):
        rule(out, "disqualified", "tow", "it is")
    with pytest.raises(UsageError, match="was never withdrawn"):
        undo(out, "withdrawn", "one")
    for reason in ("", " \n"):
        with pytest.raises(UsageError, match="give --reason"):
            rule(out, "withdrawn", "one", reason)
    with pytest.raises(UsageError, match="no results here"):
        rule(out / "nowhere", "disqualified", "one", "it is")
