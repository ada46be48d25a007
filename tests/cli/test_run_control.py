"""A run that is paused, given other workers, or bounded by a time, from outside."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tourney_runner.cli.app import app
from tourney_runner.results.store import Store
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.run.worker_count import WorkerCount
from typer.testing import CliRunner
from whole_program import NAP, until

if TYPE_CHECKING:
    from pathlib import Path

    from whole_program import Arena


def _slow_cup(arena: Arena) -> Path:
    bots = [arena.bot(name, move=NAP) for name in ("one", "two")]
    return arena.configure(bots, schedule={"rounds": 20})


def test_a_run_is_paused_and_goes_on_with_another_number_of_workers(arena: Arena) -> None:
    config = _slow_cup(arena)
    process = arena.start("run", config, "--out", "out", "--jobs", "2")
    until(arena.deals)
    assert arena.call("workers", "out", "0").stdout.startswith("the run is paused")
    assert not arena.workers()
    there = arena.deals()
    os.kill(process.pid, signal.SIGINT)
    assert arena.deals() == there
    arena.end(process, 130)
    process = arena.start("run", config, "--out", "out", "--jobs", "2")
    until((arena.path / "out" / "workers-now.json").exists)
    assert arena.call("workers", "out", "1").stdout == "the run has 1 worker now\n"
    assert len(arena.workers()) == 1
    assert arena.call("workers", "out", "3").stdout == "the run has 3 workers now\n"
    arena.end(process)
    assert arena.table()["complete"]
    assert arena.call("workers", "out", "2").stdout.startswith("no run is going on here")
    assert not (arena.path / "out" / "workers-now.json").exists()


def test_a_run_stops_at_a_time_and_says_so_in_its_events(arena: Arena) -> None:
    config = _slow_cup(arena)
    soon = (datetime.now() + timedelta(seconds=15)).isoformat()  # noqa: DTZ005 - local, as typed
    ended = arena.run("run", config, "--out", "out", "--jobs", "1", "--json", "--until", soon)
    assert ended.stderr == ""
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [event["event"] for event in events if event["event"] in {"begin", "end", "table"}] == [
        "begin", "end", "table",
    ]  # fmt: skip
    assert any("the time is up" in event.get("text", "") for event in events)
    assert not events[-1]["complete"]
    assert events[-1]["deals"] == arena.deals()
    quiet = arena.run("run", config, "--out", "out", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert arena.table()["complete"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "x"], "found 'x', expected a whole number from 1 to 256"),
        (["--jobs", "0"], "found '0', expected a whole number from 1 to 256"),
        (["--until", "25:00"], "found '25:00', expected a time such as 17:00"),
        (["--until", "2020-01-01T10:00"], "is over already"),
    ],
)
def test_a_wrong_option_is_answered_in_plain_words(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["run", "quickstart.yaml", *words])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_workers_of_a_cluster_are_not_the_programs_to_change(arena: Arena) -> None:
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = arena.run(
        "run", config, "--out", "out", "--jobs", "2", "--dask", "tcp://127.0.0.1:1", status=2
    )
    assert "--jobs does nothing on a Dask cluster" in ended.stderr
    assert "there are no results" in arena.call("workers", "out", "1", status=2).stderr


def test_the_number_of_workers_on_a_cluster_is_refused(arena: Arena) -> None:
    out = arena.path / "out"
    with ResultsFolder(out) as held, closing(Store(held.database, create=True)):
        count = WorkerCount(out)
        count.report(None)  # as a run on a cluster does
        refused = arena.call("workers", "out", "1", status=2)
        count.close()
    assert "this run plays on a Dask cluster; start or stop Dask workers" in refused.stderr
    assert not (out / "workers.json").exists()
