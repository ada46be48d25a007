"""Backups of results, restored elsewhere, and what is deleted after a while."""

from __future__ import annotations

import html
import json
import re
import zipfile
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING

from made import make_results
from site_fixtures import NAMES, write_site
from test_publishing import everything, summary_of
from tourney_runner.cli.app import app
from tourney_runner.decisions.sanctions import rule, undo
from tourney_runner.publish.result_files import write_files
from tourney_runner.publish.tables import as_json
from tourney_runner.results.store import FILE_NAME, Store
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path


def call(*words: object, status: int = 0) -> str:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code == status, ended
    return ended.output if ended.exception is None else f"{ended.output}{ended.exception}"


def refusal(*words: object) -> str:
    return str(CliRunner().invoke(app, [str(word) for word in words]).exception)


def results_with_logs(tmp_path: Path) -> Path:
    results = make_results(tmp_path / "r", NAMES, forfeits=2)
    (results / "logs").mkdir()
    (results / "logs" / "001-planner.log").write_text("stderr of Ada\n")
    return results


def test_a_backup_of_a_folder_in_use_is_restored_with_all_that_it_had(tmp_path: Path) -> None:
    results = results_with_logs(tmp_path)
    with closing(Store(results / FILE_NAME, create=True)) as running:
        running.change(complete=False)  # in the journal, not in the file
        assert "12 deals" in call("backup", results, tmp_path / "b.zip")
    assert "12 deals" in call("restore", tmp_path / "b.zip", tmp_path / "new")
    assert as_json(summary_of(tmp_path / "new")) == as_json(summary_of(results))
    assert not summary_of(tmp_path / "new").complete
    assert (tmp_path / "new" / "logs" / "001-planner.log").read_text() == "stderr of Ada\n"
    assert (tmp_path / "new" / "site" / "index.html").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "new", "r"]


def test_only_a_backup_is_restored_and_only_into_an_empty_folder(tmp_path: Path) -> None:
    results = results_with_logs(tmp_path)
    call("backup", results, tmp_path / "b.zip")
    assert "not an empty folder" in refusal("restore", tmp_path / "b.zip", results)
    (tmp_path / "text.zip").write_text("no zip")
    assert "not a backup" in refusal("restore", tmp_path / "text.zip", tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr("logs/../../evil.log", "x")
        archive.writestr("/evil", "x")
    call("restore", tmp_path / "b.zip", tmp_path / "new")
    assert not list(tmp_path.glob("**/*evil*"))
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(FILE_NAME, b"SQLite format 3\0 and then nothing")
    assert refusal("restore", tmp_path / "bad.zip", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_logs_and_authors_are_forgotten_and_deals_stay(tmp_path: Path) -> None:
    results = results_with_logs(tmp_path)
    with closing(Store(results / FILE_NAME)) as store:
        write_files(results, store)
    assert "Ada" in everything(results / "site")
    assert "nothing to delete" in refusal("prune", results)
    assert "0 logs deleted" in call("prune", results, "--logs", 30)
    told = call("prune", results, "--logs", 0, "--authors")
    assert "1 log deleted" in told
    assert f"the authors of {len(NAMES)} bots are forgotten" in told
    assert "Ada" not in everything(results / "site")
    assert list((results / "logs").iterdir()) == []
    assert summary_of(results).deals == 12


def test_a_decision_that_was_taken_back_stays_on_record(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES)
    rule(results, "disqualified", "greedy", "it copied planner")
    summary, _ = undo(results, "disqualified", "greedy")
    assert summary.rulings == ()
    page = (write_site(results, tmp_path / "s") / "index.html").read_text()
    assert "it copied planner" in page
    assert "taken back" in page


def test_a_page_that_follows_a_run_shows_how_far_it_is(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, complete=False)
    status = {
        "done": 12, "total": 2880, "left": "25 min", "at": "2026-01-01T10:30:00",
    }  # fmt: skip
    call("publish", results, "--live-status", json.dumps(status))
    page = " ".join((results / "site" / "index.html").read_text().split())
    assert "Live: 12 of 2,880 deals played · about 25 min left · updated" in page
    call("publish", results)
    assert "Live:" not in (results / "site" / "index.html").read_text()


def test_the_lines_of_a_chart_have_their_names_at_their_ends(site: Path) -> None:
    text = (site / "charts.html").read_text()
    (chart,) = re.findall(r'<svg[^>]*aria-label="Rating over deals".*?</svg>', text, re.DOTALL)
    label = re.compile(r'class="line reactive nofill"\s*/><text x="[\d.]+" y="([\d.]+)">([^<]+)')
    labels = label.findall(chart)
    assert {name for _, name in labels} == {html.escape(name, quote=False) for name in NAMES}
    heights = sorted(float(y) for y, _ in labels)
    assert all(low + 16 < high for low, high in pairwise(heights))
