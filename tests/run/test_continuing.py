"""A run that ended in whatever way is continued, and ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Conditions, TournamentRecord
from whole_program import NAP, Arena, Ended, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _field(arena: Arena) -> list[dict[str, Any]]:
    nap = "time.sleep(0.01)"  # so that there is time to disturb them
    return [
        arena.bot("one", move=nap),
        arena.bot("bad", move="sys.exit(1)"),
        arena.bot("worse", move=f"{nap}\nif luck // 7 % 9 == 0: sys.exit(1)"),
    ]


class Undisturbed(NamedTuple):
    """A tournament that was played once without any disturbance."""

    arena: Arena
    bots: list[dict[str, Any]]
    config: Path
    tables: dict[str, str]


@pytest.fixture
def undisturbed(played_once: Undisturbed) -> Undisturbed:
    """That tournament, for a test that plays it again and disturbs it."""
    for out in ("out", "forgotten"):
        shutil.rmtree(played_once.arena.path / out, ignore_errors=True)
    return played_once


@pytest.fixture(scope="module")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    arena = Arena(tmp_path_factory.mktemp("undisturbed"))
    bots = _field(arena)
    config = arena.configure(bots, schedule={"rounds": 3})
    arena.run("run", config, "--out", "undisturbed")
    yield Undisturbed(arena, bots, config, arena.files("undisturbed"))
    arena.close()


class Finished(NamedTuple):
    """A small tournament that was played to its end."""

    arena: Arena
    bots: list[dict[str, Any]]
    ended: Ended


@pytest.fixture
def finished(small: Finished) -> Finished:
    """That tournament, with results in "out" that a test may change."""
    for path in small.arena.path.glob("out*"):
        shutil.rmtree(path)
    shutil.copytree(small.arena.path / "small", small.arena.path / "out")
    return small


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    arena = Arena(tmp_path_factory.mktemp("small"))
    told = f"open({str(arena.path / 'started')!r}, 'a').write('x')"
    bots = [arena.bot("one", first=told), arena.bot("two")]
    ended = arena.run("run", arena.configure(bots), "--out", "small", "--jobs", 1)
    yield Finished(arena, bots, ended)
    arena.close()


TRIES = [3, pytest.param(30, marks=pytest.mark.slow)]


@pytest.mark.parametrize("tries", TRIES)
def test_killed_at_any_moment_it_ends_with_the_same_table(
    tries: int, undisturbed: Undisturbed
) -> None:
    arena, _, config, tables = undisturbed
    chance = random.Random(20261129)
    before = 0
    for _ in range(tries):
        process = arena.start("run", config, "--out", "out", "--jobs", 2)
        try:
            process.wait(chance.uniform(0.3, 4.0))
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        until(lambda: not arena.processes())  # bots and workers end with their runner
        assert arena.deals() >= before
        before = arena.deals()
    arena.run("run", config, "--out", "out", "--jobs", 1)
    assert arena.files() == tables
    until(arena.is_clean)


def test_an_interrupted_run_plays_only_what_is_missing(undisturbed: Undisturbed) -> None:
    arena, _, config, tables = undisturbed
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    os.kill(process.pid, signal.SIGINT)
    arena.end(process, 130)
    there = arena.deals()
    ended = arena.run("run", config, "--out", "out")
    assert f"continuing: {there} deal" in ended.stderr
    missing = arena.table()["deals"] - there
    assert f"played {missing} deal" in ended.stderr
    assert arena.files() == tables


@pytest.mark.parametrize(
    "length",
    [
        pytest.param({"deals": 10}, id="a number of deals"),
        pytest.param({"target": 10}, id="to a target", marks=pytest.mark.slow),
    ],
)
def test_finished_deals_of_a_long_match_are_stored_at_once(
    length: dict[str, int], arena: Arena
) -> None:
    bots = [
        arena.bot("one", move="time.sleep(0.02)"),
        arena.bot("bad", move="if luck % 20 == 0: answer = {'play': ['3S'] * 9}"),
    ]
    keys = {"match": {"duplicate": False, **length}, "on_fault": "substitute", "max_faults": 30}
    config = arena.configure(bots, schedule={"rounds": 1}, **keys)
    arena.run("run", config, "--out", "undisturbed")
    tables, deals = arena.files("undisturbed"), arena.deals("undisturbed")
    process = arena.start("run", config, "--out", "out", "--jobs", 1)
    until(lambda: arena.deals() > 2)
    os.kill(process.pid, signal.SIGINT)
    told = arena.end(process, 130)
    assert arena.deals() < deals  # of one of two matches, or of the second
    assert re.search(r"Interrupted with \d+ (of 20 )?deals", told.stdout + told.stderr)
    arena.run("verify", "out")
    arena.run("run", config, "--out", "out")
    assert arena.files() == tables


def test_what_is_known_of_finished_rounds_may_be_forgotten(arena: Arena) -> None:
    """It only spares a long run that is continued the reading of all its deals."""
    match = {"duplicate": False}
    config = arena.configure(_field(arena), schedule={"rounds": 8}, match=match)
    process = arena.start("run", config, "--out", "out")
    until(lambda: arena.deals() > 8)  # of 24, three a round
    os.kill(process.pid, signal.SIGINT)
    arena.end(process, 130)
    shutil.copytree(arena.path / "out", arena.path / "forgotten")
    with closing(Store(arena.path / "forgotten" / FILE_NAME, create=True)) as store:
        assert store.note("checkpoint") is not None
        store.keep_note("checkpoint", None)
    for out in ("out", "forgotten"):
        arena.run("run", config, "--out", out)
    assert arena.files("out") == arena.files("forgotten")


@pytest.mark.parametrize("kill", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_worker_that_dies_is_replaced_and_its_matches_played_again(
    kill: int, undisturbed: Undisturbed
) -> None:
    arena, _, config, tables = undisturbed
    process = arena.start("run", config, "--out", "out", "--jobs", 2)
    chance = random.Random(5)
    killed = stored = 0
    for _ in range(kill):
        until(lambda: process.poll() is not None or arena.deals() > stored)  # noqa: B023
        stored = arena.deals()
        time.sleep(chance.uniform(0, 0.1))
        if workers := arena.workers():
            with suppress(ProcessLookupError):
                # The oldest, so in turn: a match that ends three of them would be given up.
                os.kill(min(workers), signal.SIGKILL)
                killed += 1
    assert killed
    arena.end(process)
    assert arena.files() == tables
    assert arena.is_clean()


def test_a_finished_run_prints_its_table_and_starts_no_bot(finished: Finished) -> None:
    arena, bots, first = finished
    (arena.path / "started").unlink(missing_ok=True)
    second = arena.run("run", arena.configure(bots), "--out", "out")
    assert second.stdout == first.stdout.replace("small/index.html", "out/index.html")
    assert not (arena.path / "started").exists()


def test_name_rating_and_more_rounds_may_change(undisturbed: Undisturbed) -> None:
    arena, bots, config, tables = undisturbed
    other = {"name": "Before", "rating": {"sigma": 5.0}, "schedule": {"rounds": 2}}
    arena.run("run", arena.configure(bots, file="before.yaml", **other), "--out", "out")
    assert arena.table()["name"] == "Before"
    deals = arena.table()["deals"]
    ended = arena.run("run", config, "--out", "out")
    assert f"continuing: {deals} deals are stored already" in ended.stderr
    assert f"played {arena.table()['deals'] - deals} deals" in ended.stderr
    assert arena.files() == tables


def test_a_new_rating_alone_needs_no_deal(finished: Finished) -> None:
    arena, bots, _ = finished
    before = arena.rows()
    ended = arena.run("run", arena.configure(bots, rating={"mu": 100}), "--out", "out")
    assert "played" not in ended.stderr
    assert arena.rows()["one"]["mu"] > before["one"]["mu"] + 50
    assert arena.rows()["one"]["places"] == before["one"]["places"]


CHANGES: dict[str, Any] = {
    "rules": {"players": 2, "bombs_may_lead": False},
    "seed": 2,
    "time": {"start": "60s", "move": "61s"},
    "schedule": {"rounds": 1},
    "match": {"duplicate": False},
    "on_fault": "substitute",
}
DIFFERENCES = (
    "rules.bombs_may_lead: was true, is false",
    "seed: was 1, is 2",
    "time.move: was 1m, is 61s",
    "schedule.rounds: was 2, is 1; they may only become more",
    "match.duplicate: was 2, is false",
    "on_fault: was forfeit, is substitute",
    "the bot 'three' is no longer there",
    "the bot 'two' has changed: bot.py changed",
)


def test_a_folder_of_another_tournament_is_refused_with_all_differences(arena: Arena) -> None:
    bots = [arena.bot("one"), arena.bot("two"), arena.bot("three")]
    usual = {"schedule": {"rounds": 2}}
    arena.run("run", arena.configure(bots, **usual), "--out", "out")
    before = arena.files()
    arena.run("run", arena.configure(bots[::-1], **usual), "--out", "out")  # the order is no matter
    assert arena.files() == before
    (arena.path / "bots" / "1" / "bot.py").write_text("print('changed')")
    config = arena.configure(bots[:2], **CHANGES)
    ended = arena.run("run", config, "--out", "out", status=2)
    for words in (*DIFFERENCES, "--fresh"):
        assert words in ended.stderr
    assert ended.stdout == ""
    assert arena.files() == before
    shutil.rmtree(arena.path / "cache" / "entrants")
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "the copy of the earlier version is no longer in the cache" in ended.stderr


def test_fresh_moves_the_old_results_aside(finished: Finished) -> None:
    arena, bots, _ = finished
    before = arena.files()
    (arena.path / "out.old-1").mkdir()
    again = arena.configure(bots, seed=7)
    ended = arena.run("run", again, "--out", "out", "--fresh", "--jobs", 1)
    assert "out.old-2" in ended.stderr
    assert arena.files("out.old-2") == before
    assert arena.table()["seed"] == 7


def test_two_runs_over_one_folder_are_refused(arena: Arena) -> None:
    bots = [arena.bot(name, move=NAP) for name in ("one", "two")]
    config = arena.configure(bots, schedule={"rounds": 2000})
    first = arena.start("run", config, "--out", "out")
    until(arena.deals)
    for words in ([], ["--fresh"]):
        ended = arena.run("run", config, "--out", "out", *words, status=2)
        assert "another run is writing here" in ended.stderr
    os.kill(first.pid, signal.SIGTERM)
    arena.end(first, 143)


def test_a_folder_with_other_files_is_refused(arena: Arena) -> None:
    (arena.path / "out").mkdir()
    (arena.path / "out" / "thesis.tex").touch()
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "holds other files" in ended.stderr
    assert [path.name for path in (arena.path / "out").iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_folder_is_refused(arena: Arena) -> None:
    (arena.path / "out").touch()
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "the results cannot be kept here" in ended.stderr


def test_results_go_below_the_working_folder_under_the_configurations_name(arena: Arena) -> None:
    config = arena.configure([arena.bot("one"), arena.bot("two")], file="friday.yaml")
    (arena.path / "results" / "friday").mkdir(parents=True)  # an empty folder will do
    arena.run("run", config)
    names = {path.name for path in (arena.path / "results" / "friday").iterdir()}
    assert {"results.sqlite", "standings.json", "standings.csv", "standings.md"} <= names
    assert {"index.html", "logs"} <= names


def test_a_full_disk_ends_the_run_cleanly_and_it_can_be_continued(undisturbed: Undisturbed) -> None:
    """The disk is full for any file beyond a size: the system says so when it is reached."""
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        pytest.skip("prlimit is not installed")
    arena, _, config, tables = undisturbed
    process = arena.start("run", config, "--out", "out", "--jobs", 1)
    until(arena.deals)
    size = max(path.stat().st_size for path in (arena.path / "out").glob("results.sqlite*"))
    subprocess.run([prlimit, f"--pid={process.pid}", f"--fsize={size + 4096}"], check=True)
    ended = arena.end(process, 1)
    assert "run the same command again" in ended.stderr
    assert arena.is_clean()
    arena.run("run", config, "--out", "out")
    assert arena.files() == tables


def test_what_a_finished_tournament_was_played_under_stays_true(finished: Finished) -> None:
    arena, bots, _ = finished
    old = Conditions("a vault", "a sundial", "0.0.1")
    with closing(Store(arena.path / "out" / "results.sqlite", create=True)) as store:
        store.change(conditions=old)
    arena.run("run", arena.configure(bots), "--out", "out")
    assert _record(arena).conditions == old
    for rounds in (2, 3):
        arena.run("run", arena.configure(bots, schedule={"rounds": rounds}), "--out", "out")
        protection = _record(arena).conditions.protection
        assert protection.endswith(" | earlier: a vault")
        assert protection.count("earlier") == 1


@pytest.mark.parametrize(
    ("keys", "rights", "words"),
    [
        ({"sandbox": "off"}, {}, "sandbox: was limits, is off"),
        ({"build_network": True}, {}, "build_network: was false, is true"),
        ({}, {"network": True}, "the bot 'one' was granted other rights"),
    ],
)
def test_what_bots_may_do_does_not_change_silently(
    keys: dict[str, Any], rights: dict[str, Any], words: str, finished: Finished
) -> None:
    arena, (one, two), _ = finished
    config = arena.configure([one | rights, two], **keys)
    assert words in arena.run("run", config, "--out", "out", status=2).stderr


def test_fresh_moves_neither_other_files_nor_the_working_folder(finished: Finished) -> None:
    arena, bots, _ = finished
    config = arena.configure(bots)
    (arena.path / "mine").mkdir(exist_ok=True)
    (arena.path / "mine" / "thesis.tex").touch()
    ended = arena.run("run", config, "--out", "mine", "--fresh", status=2)
    assert "holds other files" in ended.stderr
    ended = arena.run("run", config, "--out", ".", "--fresh", cwd=arena.path / "out", status=2)
    assert "the folder aside that you are in" in ended.stderr
    assert not list(arena.path.glob("*.old-*"))


def test_a_place_for_the_site_that_is_taken_is_found_before_anything_is_played(
    finished: Finished,
) -> None:
    arena, bots, _ = finished
    deals = arena.deals()
    (arena.path / "out" / "site" / "site.json").unlink()
    more = arena.configure(bots, schedule={"rounds": 2})
    ended = arena.run("run", more, "--out", "out", status=2)
    assert "holds other files and is not a site" in ended.stderr
    assert arena.deals() == deals


def test_a_run_that_cannot_begin_leaves_no_folder_at_all(arena: Arena) -> None:
    config = arena.configure([arena.bot("one", first="sys.exit(1)"), arena.bot("two")])
    arena.run("run", config, "--out", "deep/down/out", status=2)
    assert not (arena.path / "deep").exists()


def _record(arena: Arena) -> TournamentRecord:
    with closing(Store(arena.path / "out" / "results.sqlite")) as store:
        return store.tournament()
