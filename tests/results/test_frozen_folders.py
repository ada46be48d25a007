"""Results folders of earlier versions: every later version reads, verifies and continues them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tourney_runner.cli.app import app
from tourney_runner.cli.run_progress import make_reporter
from tourney_runner.config import load_config
from tourney_runner.errors import UsageError
from tourney_runner.league import seasons
from tourney_runner.league.league_table import as_json as league_json
from tourney_runner.league.league_table import league_table
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.result_files import write_files
from tourney_runner.publish.summary import summarise
from tourney_runner.publish.tables import as_json
from tourney_runner.results.store import FILE_NAME, SCHEMA_VERSION, Store
from tourney_runner.run.tournament import RunOptions, run
from tourney_runner.run.tournament_setup import stored_text_seed
from tourney_runner.verify.verification import Wanted, verify
from typer.testing import CliRunner

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet
    from click.testing import Result

FROZEN = Path(__file__).parents[1] / "data" / "results"
NOTHING_PLAYED = Wanted(sample=0)
CONTINUED = {"swiss-unfinished", "late-unfinished", "ladder-unfinished", "league-secret-2"}
PUBLISHED = {"voids", "disqualified", "ladder-unfinished", "speahx-options", "target"}
"""Folders that the default run continues and publishes; --slow takes all of them."""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of an earlier version, and one of this version with the same deals."""
    results, sites = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("sites")
    home = FROZEN / "0.1.0-9ef054c" / "rr-complete"
    shutil.copytree(home / "site", sites / "earlier")
    shutil.copy(home / FILE_NAME, results)
    with closing(Store(results / FILE_NAME)) as store:
        write_files(results, store, kept_choices(store, replays=40))
    shutil.copytree(results / "site", sites / "today")
    return sites


def folders(key: str, quick: set[str] | None = None) -> list[ParameterSet]:
    """All entries of all manifests that have a key; those that are not quick are marked slow."""
    return [
        pytest.param(
            manifest.parent,
            entry,
            id=f"{manifest.parent.name}-{entry['name']}",
            marks=() if quick is None or entry["name"] in quick else pytest.mark.slow,
        )
        for manifest in sorted(FROZEN.glob("*/manifest.yaml"))
        for entry in yaml.safe_load(manifest.read_text("utf-8"))["folders"]
        if key in entry
    ]


def leagues() -> list[ParameterSet]:
    """All leagues of all manifests."""
    return [
        pytest.param(manifest.parent, entry, id=f"{manifest.parent.name}-{entry['config']}")
        for manifest in sorted(FROZEN.glob("*/manifest.yaml"))
        for entry in yaml.safe_load(manifest.read_text("utf-8"))["leagues"]
    ]


def assert_same_table(text: str, expected: Path) -> None:
    """Every value of the expected table is in a table; a later version may add others."""
    _assert_holds(json.loads(text), json.loads(expected.read_text("utf-8")), "table")


def _assert_holds(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key == "seed" and found.get("sealed"):  # it was shown as soon as all was played
                assert found["seed"] is None, where
                continue
            if key == "faults":  # deals that a benched bot forfeited are counted apart since
                assert sum(found[key].values()) + found["forfeits"] == sum(value.values()), where
                continue
            _assert_holds(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            _assert_holds(one, other, f"{where}[{at}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), where
    else:
        assert found == expected, where


def rows(path: Path) -> list[str]:
    """Everything in a results file, as SQL."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
        return list(db.iterdump())


def table_of(folder: Path) -> str:
    with closing(Store(folder / FILE_NAME)) as store:
        return as_json(summarise(store))


@pytest.mark.parametrize(("home", "entry"), folders("expected"))
def test_a_frozen_folder_gives_its_table_verifies_and_stays_as_it_is(
    home: Path, entry: dict[str, Any]
) -> None:
    folder = home / entry["results"]
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert_same_table(table_of(folder), home / entry["expected"])
    report = verify(folder, NOTHING_PLAYED)
    assert report.findings == ()
    assert report.deals > 0
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("home", "entry"), folders("expected", PUBLISHED))
def test_a_frozen_folder_can_be_published(
    home: Path, entry: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copy(home / entry["results"] / FILE_NAME, tmp_path)
    with closing(Store(tmp_path / FILE_NAME)) as store:
        write_files(tmp_path, store, kept_choices(store, replays=1))
    assert_same_table((tmp_path / "standings.json").read_text("utf-8"), home / entry["expected"])
    assert verify(tmp_path, NOTHING_PLAYED).findings == ()


def test_tables_and_pages_are_written_in_two_passes_over_the_deals(tmp_path: Path) -> None:
    home = FROZEN / "0.1.0-9ef054c"
    shutil.copy(home / "rr-complete" / FILE_NAME, tmp_path)
    statements: list[str] = []
    with closing(Store(tmp_path / FILE_NAME, create=True)) as store:
        store._db.set_trace_callback(statements.append)
        summary = write_files(tmp_path, store)
        store._db.set_trace_callback(None)
        assert as_json(summary) == as_json(summarise(store))
    passes = [text for text in statements if "FROM deals" in text and "ORDER BY" in text]
    assert 1 <= len(passes) <= 2  # for the statistics, and for the replays


@pytest.mark.parametrize(("home", "entry"), folders("continued", CONTINUED))
def test_an_unfinished_frozen_folder_continues_to_the_same_table(
    home: Path, entry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(home, entry, tmp_path, monkeypatch)
    folder = tmp_path / entry["results"]
    assert_same_table(table_of(folder), home / entry["continued"])
    assert verify(folder, NOTHING_PLAYED).findings == ()
    assert rows(folder / "results.schema-2.sqlite") == rows(home / entry["results"] / FILE_NAME)
    with closing(Store(folder / FILE_NAME)) as store:
        assert store.tournament().format_rules == 1
    if "season" in entry:
        league = next(one for one in leagues() if one.values[1]["config"] == entry["config"])
        table = league_json(league_table(tmp_path / entry["config"]))
        assert_same_table(table, home / str(league.values[1]["continued"]))


@pytest.mark.parametrize(
    ("home", "entry"), folders("expected", {"new-version", "late-entrant", "knockout-complete"})
)
def test_a_complete_frozen_folder_is_known_again(
    home: Path, entry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if entry["status"] != "complete":
        return
    play(home, entry, tmp_path, monkeypatch)
    folder = tmp_path / entry["results"]
    if entry["name"] != "league-secret-1":
        assert_same_table(table_of(folder), home / entry["expected"])
        return
    with closing(Store(folder / FILE_NAME)) as store:  # its league has had more rounds since
        assert store.count(range(1)) == 12 < store.count()
        assert [one.first_round for one in store.tournament().later_seeds] == [1]
    assert verify(folder, NOTHING_PLAYED).findings == ()


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("index.html", ">25.86<", ">35.86<"),
        ("site/index.html", ">25.86<", ">35.86<"),
        ("site/badges/003.svg", "#2 of", "#1 of"),
        ("site/bots/002.html", "<dd>21.82, with", "<dd>23.82, with"),
        ("site/bots/002.html", ">12.5 %<", ">52.5 %<"),
        ("site/bots/002.html", ">0.875<", ">0.975<"),
        ("site/meetings.html", ">71<", ">72<"),
        ("site/meetings.html", ">low<", ">law<"),
        ("site/replays.html", ">60<", ">61<"),
        ("site/replays/000008.html", "<td>11</td>", "<td>12</td>"),
    ],
)
def test_a_number_that_was_changed_on_a_page_of_an_earlier_version_is_found(
    place: str, old: str, new: str, tmp_path: Path
) -> None:
    shutil.copytree(FROZEN / "0.1.0-9ef054c" / "rr-complete", tmp_path, dirs_exist_ok=True)
    page = tmp_path / place
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new), "utf-8")
    assert {one.where for one in verify(tmp_path, NOTHING_PLAYED).findings} == {"tables"}


def play(
    home: Path, entry: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Play what is missing of a frozen folder, in a copy."""
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / entry["config"]
    if "season" in entry:
        choices = seasons.season_choices(path, entry["season"], again="", jobs=1)
        earlier = seasons.stored_text_seed_of(path, entry["season"])
        config = load_config(path, earlier_seed=earlier, skip_broken=True)
        seasons.play_season(config, choices, make_reporter())
        return
    choices = RunOptions(
        folder=tmp_path / entry["results"],
        again="",
        jobs=1,
        new_versions="--new-versions" in entry.get("options", ()),
    )
    earlier = stored_text_seed(choices.folder)
    run(load_config(path, earlier_seed=earlier), choices, make_reporter())


@pytest.mark.parametrize(("home", "entry"), leagues())
def test_a_frozen_league_gives_its_table(home: Path, entry: dict[str, Any]) -> None:
    assert_same_table(league_json(league_table(home / entry["config"])), home / entry["expected"])


def test_an_earlier_schema_is_read_from_a_read_only_folder(tmp_path: Path) -> None:
    home = FROZEN / "0.1.0-9ef054c"
    folder = shutil.copytree(home / "rr-complete", tmp_path / "results")
    (folder / FILE_NAME).chmod(0o444)
    folder.chmod(0o555)
    times = folder.stat()  # root may write all the same, but that would show in the time
    for words in (["standings"], ["export", "--deals", tmp_path / "deals.csv"]):
        ended = invoke(words[0], folder, *words[1:])
        assert ended.exit_code == 0, ended.output
    assert_same_table(table_of(folder), home / "expected" / "rr-complete.json")
    assert verify(folder, NOTHING_PLAYED).findings == ()
    assert folder.stat().st_mtime_ns == times.st_mtime_ns
    folder.chmod(0o755)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "rr-complete.yaml", "--out", "rr-complete"],
        ["disqualify", "rr-complete", "low", "--reason", "x"],
        ["withdraw", "rr-complete", "low"],
        ["withdraw", "rr-complete", "low", "--undo"],
        ["unbench", "rr-complete", "low"],
        ["rerun", "rr-complete", "--deal", "1", "--reason", "x"],
        ["season", "league-fixed"],
        ["compare", "bots/low", "bots/high", "--deals", "2", "--out", "rr-complete"],
        ["play", "rr-complete.yaml", "--out", "rr-complete"],
    ],
    ids=lambda words: words[0],
)
def test_no_command_converts_what_it_may_not(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FROZEN / "0.1.0-9ef054c", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOURNEY_CACHE", str(tmp_path / "cache"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.sqlite")}
    ended = invoke(*words, "--no-migrate")
    assert isinstance(ended.exception, UsageError), ended.output
    assert "Leave --no-migrate out" in str(ended.exception)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.sqlite")} == before


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_file_is_migrated_only_by_those_who_write_and_may(tmp_path: Path) -> None:
    shutil.copy(FROZEN / "0.1.0-9ef054c" / "rr-complete" / FILE_NAME, tmp_path)
    path = tmp_path / FILE_NAME
    before = path.read_bytes()
    with closing(Store(path)) as store:
        record = store.tournament()
    with pytest.raises(UsageError, match="Leave --no-migrate out"):
        Store(path, create=True, migrate=False)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with closing(Store(path, create=True)) as store:
        assert store.backup is not None
        assert rows(store.backup) == rows(FROZEN / "0.1.0-9ef054c" / "rr-complete" / FILE_NAME)
        assert store.tournament() == record
    with closing(Store(path, create=True, migrate=False)) as store:
        assert store.backup is None
    assert SCHEMA_VERSION > 2


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("standings.json", '"deals": 32', '"deals": 33', "33 deals and 32 places"),
        ("standings.csv", ",74.0,", ",75.0,", "low: points is 75.0"),
        ("standings.md", "| 1.688 |", "| 1.788 |", "mean_place is 1.788"),
        ("standings.tex", "& 1.688 &", "& 1.788 &", "mean_place is 1.788"),
        ("index.html", ">low<", ">law<", "law is not a bot of this tournament"),
        ("badges/003.svg", "#2 of", "#1 of", "does not show the rank of many"),
        ("bots/002.html", "<dd>28</dd>", "<dd>29</dd>", "points is 29"),
        ("bots/002.html", ">75.0 %<", ">76.0 %<", "not 100 % together"),
        ("meetings.html", ">71<", ">72<", "low: 3 is 72"),
        ("replays.html", "<bdi>many</bdi>, <bdi>mixed", "<bdi>mixed</bdi>, <bdi>many", "000026"),
    ],
)
def test_a_site_without_deals_is_checked_for_consistency_only(
    *, name: str, old: str, new: str, words: str, sites: Path, tmp_path: Path
) -> None:
    for site in sites.iterdir():
        copied = shutil.copytree(site, tmp_path / site.name)
        text = (copied / name).read_text("utf-8")
        if site.name == "today" and old not in text:
            continue  # this version writes that number differently
        (copied / name).write_text(text.replace(old, new), "utf-8")
        ended = invoke("verify", copied)
        assert ended.exit_code == 1
        assert "no deals, so only consistency was checked" in ended.output
        assert words in ended.output


def test_an_untouched_site_agrees_with_itself_and_plays_nothing_again(sites: Path) -> None:
    for site in sites.iterdir():
        ended = invoke("verify", site)
        assert ended.exit_code == 0, ended.output
        assert "no deals, so only consistency was checked" in ended.output
        assert isinstance(invoke("verify", site, "--deal", "1").exception, UsageError)


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("standings.json", "[" * 100_000),
        ("standings.json", '{"deals": 1, "complete": 2, "entrants": [7]}'),
        ("standings.csv", "name\n" + "x" * 200_000),
        ("standings.md", "| a |\n|---|\n| b |"),
        ("site.json", "[" * 100_000),
        ("tournament.json", "[" * 100_000),
        (
            "bots/001.html",
            "<h1>low</h1><table><tr><th>bot<th>deals together<th>finished before it<tr><td>x",
        ),
        ("bots/01x.html", "<td>1e999999999</td>" * 1000),
        ("replays/0x.html", "<table>" * 10_000),
        ("meetings.html", "<table><tr><th>bot</th><th>1</th></tr><tr></tr><tr><td></td></tr>"),
        ("standings.tex", None),
        ("meetings.html", None),
        ("bots/009.html", None),
        ("index.html", None),
    ],
)
def test_a_hostile_site_neither_breaks_nor_holds_up_its_verification(
    name: str, contents: str | None, sites: Path, tmp_path: Path
) -> None:
    site = shutil.copytree(sites / "today", tmp_path / "site")
    path = site / name
    path.unlink(missing_ok=True)
    if contents is None:
        os.mkfifo(path)
    else:
        path.write_text(contents, "utf-8")
    ended = invoke("verify", site)
    assert isinstance(ended.exception, (SystemExit, UsageError, type(None))), ended.exception
    shutil.copy(FROZEN / "0.1.0-9ef054c" / "rr-complete" / FILE_NAME, tmp_path)
    ended = invoke("verify", tmp_path, "--sample", "0")
    assert isinstance(ended.exception, (SystemExit, UsageError, type(None))), ended.exception
