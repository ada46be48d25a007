"""Tests of the content of a site, and of where it may be written."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from made import HOSTILE, SEED, make_results
from msgspec.structs import replace
from site_fixtures import NAMES, write_site
from tourney_runner.cli.app import app
from tourney_runner.errors import UsageError
from tourney_runner.publish import tables
from tourney_runner.publish.events import all_events, atom_feed, log_events
from tourney_runner.publish.publish_options import PublishChoices, choose, fault_text, kept_choices
from tourney_runner.publish.site import Site
from tourney_runner.publish.statistics import BotResults, DealRef, SlowRef, gather
from tourney_runner.publish.summary import summarise
from tourney_runner.ratings.analysis import Means
from tourney_runner.results.records import FaultRecord
from tourney_runner.results.rulings import counting_deals
from tourney_runner.results.store import FILE_NAME, Store
from typer.testing import CliRunner

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary


FROZEN = Path(__file__).parents[1] / "data" / "results" / "0.1.0-9ef054c"


def tourney(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def summary_of(results: Path) -> Summary:
    with closing(Store(results / FILE_NAME)) as store:
        return summarise(store)


def everything(site: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(site.rglob("*")) if path.is_file())


def test_a_site_has_a_page_a_bot_and_one_a_replay(site: Path) -> None:
    assert len(list((site / "bots").glob("*.html"))) == len(NAMES)
    assert len(list((site / "badges").glob("*.svg"))) == len(NAMES)
    assert len(list((site / "replays").glob("*.html"))) == 12


def test_the_seed_is_told_only_when_it_is_no_secret_any_more(tmp_path: Path) -> None:
    for complete in (False, True):
        folder = tmp_path / str(complete)
        results = make_results(folder / "r", NAMES, secret=True, complete=complete, matches=1)
        assert (SEED in everything(write_site(results, folder / "s"))) is complete


@pytest.mark.parametrize(
    ("logs", "shown", "hidden"),
    [
        ("none", ["crash"], ["status 1", "Traceback", "secret.py", "half an answ"]),
        ("first_line", ["status 1", "Traceback"], ["secret.py", "half an answ"]),
        ("all", ["status 1", "Traceback", "secret.py", "half an answ"], []),
    ],
)
def test_a_bots_log_is_shown_as_far_as_the_organiser_wants(
    tmp_path: Path, logs: str, shown: list[str], hidden: list[str]
) -> None:
    results = make_results(tmp_path / "r", NAMES, forfeits=1, publish={"logs": logs})
    text = everything(write_site(results, tmp_path / "s"))
    assert [word for word in shown if word not in text] == []
    assert [word for word in hidden if word in text] == []


def test_causes_name_cards_as_they_are_drawn() -> None:
    cause = "TC does not fit: on the pile lies 9H; JK, A10 and 1TC are no cards of a suit"
    fault = FaultRecord(0, 0, "illegal", 3, cause)
    shown = fault_text(fault, "first_line")
    assert shown == cause.replace("TC does", "10♣ does").replace("9H", "9♥")


def test_paths_of_this_machine_are_not_published(site: Path) -> None:
    assert "/opt/hidden" not in everything(site)


def test_options_go_before_the_configuration(results: Path, tmp_path: Path) -> None:
    site = tmp_path / "s"
    options = ("--title", "Another <title>", "--replays", 2, "--logs", "none", "--debug")
    tourney("publish", results, "--to", site, *options)
    assert "<h1><bdi>Another &lt;title&gt;</bdi></h1>" in (site / "index.html").read_text()
    assert len(list((site / "replays").iterdir())) == 2
    assert "note \\u003cb\\u003e" in everything(site)


def test_pages_of_a_time_when_there_were_more_are_taken_away(results: Path, tmp_path: Path) -> None:
    site = tmp_path / "s"
    tourney("publish", results, "--to", site, "--replays", 5)
    tourney("publish", results, "--to", site, "--replays", 1)
    assert len(list((site / "replays").iterdir())) == 1


def test_nobody_elses_folder_is_written_to(results: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("four years")
    with pytest.raises(UsageError, match="other files"):
        tourney("publish", results, "--to", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_without_to_the_site_lies_with_the_results(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, matches=1)
    tourney("publish", results)
    assert (results / "site" / "index.html").is_file()
    front = (results / "index.html").read_text()
    assert 'href="site/bots/001.html"' in front
    assert (results / "standings.json").is_file()


def test_a_tournament_that_goes_on_says_so(tmp_path: Path) -> None:
    for complete in (True, False):
        folder = tmp_path / str(complete)
        site = write_site(make_results(folder / "r", NAMES, complete=complete), folder / "s")
        assert ("not complete" in (site / "index.html").read_text()) is not complete


def test_a_tournament_without_deals_has_a_site(tmp_path: Path) -> None:
    site = write_site(make_results(tmp_path / "r", NAMES, matches=0), tmp_path / "s")
    assert all(name in (site / "standings.txt").read_text() for name in NAMES)


def test_a_deal_that_the_cards_decide_at_once_is_nobodys_best_or_worst(tmp_path: Path) -> None:
    rules = {"players": 2, "instant_wins": ["four_twos", "run_3_to_A", "six_pairs"]}
    folder = make_results(tmp_path, NAMES[:2], rules=rules, matches=60)
    with closing(Store(folder / FILE_NAME)) as store:
        assert not all(record.moves for record in store.records())
        _, gathered = gather(store, PublishChoices())
    assert all(ref.moves for one in gathered.bots for ref in (*one.best, *one.worst))


def test_the_same_results_give_the_same_site(results: Path, tmp_path: Path) -> None:
    sites = [write_site(results, tmp_path / name) for name in ("one", "two")]
    for path in sites[0].rglob("*.*"):
        if path.name != "site.json" and path.is_file():
            assert path.read_bytes() == (sites[1] / path.relative_to(sites[0])).read_bytes()


def bot(*best: int) -> BotResults:
    refs = tuple(DealRef(number, 1, 1.0, 10) for number in best)
    slow = tuple(SlowRef(number + 1, 1.0) for number in best)
    nothing = Means(mean_place=None, mean_points=None, seats=())
    return BotResults(nothing, (), (), None, refs, (), slow, ())


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ("first", (1, 2, 3, 4)),
        ("last", (97, 98, 99, 100)),
        ("spread", (1, 26, 51, 76)),
        ("highlights", (7, 8, 30, 31)),
    ],
)
def test_the_chosen_deals(choice: str, chosen: tuple[int, ...]) -> None:
    choices = PublishChoices(replays=4, choice=choice)
    assert choose(100, [bot(30, 40), bot(7, 50)], choices) == chosen


def test_highlights_are_filled_up_with_others() -> None:
    chosen = choose(10, [bot(3)], PublishChoices(replays=6))
    assert len(chosen) == 6
    assert {3, 4} <= set(chosen)


def test_no_replays_are_wanted() -> None:
    assert choose(10, [bot(3)], PublishChoices(replays=0)) == ()


def test_one_deal_is_told_as_one(results: Path) -> None:
    summary = summary_of(results)
    summary = replace(summary, table=replace(summary.table, deals=1))
    assert "tienlen, 1 deal\n" in tables.as_text(summary)


@pytest.mark.parametrize("write", [tables.as_text, tables.as_markdown, tables.as_latex])
def test_no_name_steers_a_terminal_or_breaks_a_row(tmp_path: Path, write: object) -> None:
    text = write(summary_of(make_results(tmp_path / "r", HOSTILE, matches=1)))
    steering = {c for c in text if unicodedata.category(c) in {"Cc", "Cf"}} - {"\n"}
    assert steering == set()
    assert sum("nigs" in line or "gnirts" in line for line in text.splitlines()) == 1


def test_latex_knows_no_command_of_a_name(tmp_path: Path) -> None:
    text = tables.as_latex(summary_of(make_results(tmp_path / "r", HOSTILE, matches=1)))
    assert r"\textbackslash{}input\{x\} \& \$y\$ \%" in text
    assert text.count("\\input") == 0


def test_spreadsheets_find_no_formula(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", HOSTILE, matches=2)
    tourney("export", results, "--deals", tmp_path / "d.csv", "--table", tmp_path / "t.csv")
    for name, column in (("d.csv", "bot"), ("t.csv", "name")):
        with (tmp_path / name).open(newline="") as file:
            names = {row[column] for row in csv.DictReader(file)}
        assert not any(name.startswith(("=", "+", "-", "@")) for name in names)
        assert f"'{HOSTILE[3]}" in names


def test_exported_deals_are_the_stored_ones(results: Path, tmp_path: Path) -> None:
    tourney("export", results, "--deals", tmp_path / "d.csv")
    tourney("export", results, "--deals", tmp_path / "d.jsonl")
    with (tmp_path / "d.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    deals = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    with closing(Store(results / FILE_NAME)) as store:
        records = list(store.records())
    assert [deal["deal"] for deal in deals] == list(range(1, 13))
    for record, deal in zip(records, deals, strict=True):
        own = [row for row in rows if int(row["deal"]) == deal["deal"]]
        assert [int(row["place"]) for row in own] == list(record.places)
        assert [player["points"] for player in deal["players"]] == list(record.points)
        assert [player["bot"] for player in deal["players"]] == [NAMES[it] for it in record.seating]
    assert sum(player["faults"] == ["crash"] for deal in deals for player in deal["players"]) == 1


@pytest.mark.parametrize("words", [("--deals", "d.xls"), ("--table", "t.pdf"), ()])
def test_an_export_says_what_it_can_write(results: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"\.csv|--deals"):
        tourney("export", results, *words)


@pytest.mark.parametrize(
    ("deals", "table"), [("d.csv", "t.pdf"), ("d.xls", "t.csv"), ("x.csv", "sub/../x.csv")]
)
def test_an_export_of_which_a_part_is_refused_writes_nothing(
    deals: str, table: str, results: Path, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    with pytest.raises(UsageError, match=r"by the ending|a file of its own"):
        tourney("export", results, "--deals", tmp_path / deals, "--table", tmp_path / table)
    assert [path.name for path in tmp_path.iterdir()] == ["sub"]


def test_the_badge_is_a_picture_with_the_rank(site: Path) -> None:
    best = json.loads((site / "standings.json").read_text())["entrants"][0]
    number = NAMES.index(best["name"]) + 1
    root = ET.parse(site / "badges" / f"{number:03}.svg").getroot()  # noqa: S314
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "#1 of 6" in "".join(root.itertext())


def test_hostile_names_leave_every_chart_well_formed(tmp_path: Path) -> None:
    site = write_site(make_results(tmp_path / "r", HOSTILE, matches=1), tmp_path / "s")
    for path in (site / "badges").iterdir():
        assert ET.parse(path).getroot() is not None  # noqa: S314


def test_a_deal_that_is_not_there_has_no_replay(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no deal 99"):
        tourney("replay", results, 99, "--html", tmp_path / "r.html")
    tourney("replay", results, 12, "--html", tmp_path / "r.html")
    assert "Deal 12" in (tmp_path / "r.html").read_text()


def test_the_recipe_is_a_configuration(site: Path) -> None:
    text = (site / "index.html").read_text()
    recipe = text.partition("<pre>")[2].partition("</pre>")[0]
    assert "game: tienlen" in recipe
    assert f"seed: {SEED}" in recipe
    assert recipe.count("{bot: .., name:") == len(NAMES)


def test_a_poor_locale_spoils_no_text(results: Path, tmp_path: Path) -> None:
    words = ["publish", results, "--to", tmp_path / "s", "--title", "Zoë 漢字"]
    subprocess.run(
        [sys.executable, "-m", "tourney_runner", *map(str, words)],
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PATH": os.environ["PATH"]},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    text = (tmp_path / "s" / "index.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Zoë 漢字</bdi></h1>" in text
    assert text.count("漢字") >= 3


@pytest.mark.parametrize(("name", "heading"), [("knockout", "Bracket"), ("swiss", "Rounds")])
def test_a_format_that_pairs_by_results_shows_its_rounds(
    tmp_path: Path, name: str, heading: str
) -> None:
    frozen = FROZEN / {"knockout": "knockout-complete", "swiss": "swiss-unfinished"}[name]
    with closing(Store(frozen / FILE_NAME)) as store:
        Site(store, kept_choices(store)).write(tmp_path / "site")
        tables = {
            (record.key.round, frozenset(record.seating)) for _, record in counting_deals(store)
        }
    page = (tmp_path / "site" / "rounds.html").read_text()
    assert f"<h1>{heading}</h1>" in page
    assert page.count('<ol class="table">') == len(tables)
    assert 'href="rounds.html"' in (tmp_path / "site" / "index.html").read_text()


def test_a_round_robin_has_no_page_of_rounds(site: Path) -> None:
    assert not (site / "rounds.html").exists()
    assert "rounds.html" not in (site / "index.html").read_text()


def test_a_feed_is_xml_whatever_its_names(tmp_path: Path) -> None:
    folder = make_results(tmp_path / "made", HOSTILE, matches=1)
    with closing(Store(folder / FILE_NAME, create=True)) as store:
        log_events(store)
        events = all_events(store)
    assert [event.event for event in events] == ["started", "finished"]
    root = ET.fromstring(atom_feed(events, "<&\x00\ud800\ufffe>", "me", None))  # noqa: S314 - ours
    assert root.findtext("{http://www.w3.org/2005/Atom}title") == "<&>"
    assert root.findtext("{http://www.w3.org/2005/Atom}updated") == events[-1].at
    with closing(Store(folder / FILE_NAME)) as store:
        assert all_events(store) == events
