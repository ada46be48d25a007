"""Tables and pages are made again only if something that they show has changed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tourney_runner.decisions.sanctions import rule
from tourney_runner.errors import DamageError
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.result_files import write_files
from tourney_runner.results.store import FILE_NAME, Store
from whole_program import Arena

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tourney_runner.publish.summary import Summary


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A complete tournament."""
    arena = Arena(tmp_path_factory.mktemp("played"))
    bots = [arena.bot("one"), arena.bot("two"), arena.bot("three")]
    arena.configure(bots, name="Cup", seed=2**200, rules={"players": 2})
    arena.run("run", "cup.yaml", "--out", "out")
    yield arena
    arena.close()


@pytest.fixture
def folder(played: Arena, tmp_path: Path) -> Path:
    """A copy of its results, published."""
    with (
        closing(sqlite3.connect(played.path / "out" / FILE_NAME)) as db,
        closing(sqlite3.connect(tmp_path / FILE_NAME)) as copy,
    ):
        db.backup(copy)
    publish(tmp_path)
    return tmp_path


def publish(folder: Path, **choices: object) -> Summary:
    with closing(Store(folder / FILE_NAME)) as store:
        return write_files(folder, store, kept_choices(store, **choices))


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """The identity and the time of every published file."""
    published = [*folder.glob("*.*"), *(folder / "site").rglob("*.*")]
    return {
        str(path): (status.st_ino, status.st_mtime_ns)
        for path in published
        if path.name != FILE_NAME
        for status in [path.stat()]
    }


def test_a_finished_tournament_is_shown_without_its_libraries(played: Arena) -> None:
    first = played.run("run", "cup.yaml", "--out", "out").stdout
    shown = played.run("run", "cup.yaml", "--out", "out", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert shown.stdout == first
    imported = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "tourney_runner.run.tournament" in imported
    assert imported.isdisjoint({"numpy", "jinja2", "pygal", "trueskill"})


def test_nothing_is_written_while_nothing_has_changed(folder: Path) -> None:
    before, table = files(folder), publish(folder)
    assert table == publish(folder)
    assert files(folder) == before


@pytest.mark.parametrize("name", ["standings.json", "index.html", "site/charts.html"])
@pytest.mark.parametrize("harm", [os.unlink, lambda path: path.write_text("edited")])
def test_a_file_that_was_changed_is_written_again(
    folder: Path, name: str, harm: Callable[[Path], object]
) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    before = files(folder)
    harm(path)
    publish(folder)
    assert path.read_text(encoding="utf-8") == text
    same = {file for file, status in files(folder).items() if before[file] == status}
    assert str(folder / "site/replays/000001.html") in same


def test_another_choice_makes_other_pages(folder: Path) -> None:
    publish(folder, title="The Grand Final")
    assert "The Grand Final" in (folder / "index.html").read_text(encoding="utf-8")
    publish(folder)
    assert "The Grand Final" not in (folder / "index.html").read_text(encoding="utf-8")


def test_a_ruling_makes_another_table(folder: Path) -> None:
    publish(folder)
    table, _ = rule(folder, "disqualified", "one", "for the test")
    assert table == publish(folder)
    assert [bot.status for bot in table.entrants if bot.name == "one"] == ["disqualified"]


def test_a_damaged_deal_is_noticed_although_the_table_is_there(folder: Path) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as db:
        db.execute("UPDATE deals SET places = '[2,1]', points = '[1.0,2.0]' WHERE deal = 0")
        db.execute("UPDATE deals SET points = '[5.0,2.0]' WHERE deal = 1")
        db.commit()
    with pytest.raises(DamageError, match="is not as it was stored"):
        publish(folder)


def test_an_unreadable_note_of_the_last_table_is_no_obstacle(folder: Path) -> None:
    (folder / ".published.json").write_text('{"made_from": 3}')
    assert publish(folder) == publish(folder)
