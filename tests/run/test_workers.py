"""Workers that die, workers that fail, and cores."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.play.bot import Bot
from tourney_runner.play.play_settings import LimitsConfig, MatchConfig, PlaySettings, TimeConfig
from tourney_runner.run.worker_process import Setup, read_setup, setup_frame
from whole_program import until

if TYPE_CHECKING:
    from whole_program import Arena

KILL_WORKER = "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"


def test_a_setup_reaches_workers_here_and_on_a_cluster_unchanged() -> None:
    settings = PlaySettings(
        game="tienlen",
        rules={"players": 2},
        master_seed="7",
        match=MatchConfig(duplicate=2),
        time=TimeConfig(move_ms=5),
        limits=LimitsConfig(memory=None),
        later_seeds=((1, "8"),),
    )
    bot = Bot(number=0, name="a", command=("/bin/a",), folder="/tmp", env={"LEVEL": "2"})
    setup = Setup("1", settings, (bot,), "auto", "fair", most_alive=3)
    assert read_setup(setup_frame(setup)[4:]) == setup
    assert pickle.loads(pickle.dumps(setup)) == setup  # noqa: S301 - our own bytes, as Dask sends them
    elsewhere = {"game": "tienlen", "rules": {"players": 2}, "master_seed": "7"}
    stored = PlaySettings.stored(settings.to_store() | elsewhere)
    assert stored == settings.with_changes(later_seeds=())
    with pytest.raises(TypeError, match="move"):
        settings.with_changes(move=5)


def test_matches_that_end_their_workers_again_and_again_are_named(arena: Arena) -> None:
    """Without a sandbox a hostile bot can do this; it must not hold the run for ever."""
    config = arena.configure([arena.bot("killer", move=KILL_WORKER), arena.bot("victim")])
    ended = arena.run("run", config, "--out", "out", "--jobs", 1, status=1)
    assert "workers end again and again (exit status -9)" in ended.stderr
    assert "round 1, match" in ended.stderr
    assert "killer" in ended.stderr
    assert "run the same command again" in ended.stderr.lower()
    assert arena.is_clean()


def test_a_check_that_ends_its_workers_is_named(arena: Arena) -> None:
    config = arena.configure([arena.bot("good"), arena.bot("killer", first=KILL_WORKER)])
    ended = arena.run("run", config, "--out", "out", status=1)
    assert "starting the bot 'killer'" in ended.stderr
    assert not (arena.path / "out").exists()
    assert arena.is_clean()


def test_a_worker_that_dies_with_nothing_to_do_is_replaced(arena: Arena) -> None:
    """The second worker has nothing to do while the only match is played."""
    asked = arena.path / "asked"
    go_on = arena.path / "go on"
    wait = f"open({str(asked)!r}, 'w')\nwhile not os.path.exists({str(go_on)!r}): time.sleep(0.02)"
    bots = [arena.bot("slow", move=wait), arena.bot("good")]
    config = arena.configure(bots, match={"duplicate": False})
    process = arena.start("run", config, "--out", "out", "--jobs", 6, "--no-pin")
    until(asked.exists)
    workers = set(until(lambda: arena.workers() if len(arena.workers()) == 6 else []))
    busy = {
        int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        for pid, command in arena.processes().items()
        if "bot.py" in command
    }
    idle = min(workers - busy)
    os.kill(idle, signal.SIGKILL)
    until(lambda: len(set(arena.workers()) - {idle}) == 6)
    go_on.touch()
    arena.end(process)
    assert arena.table()["complete"]
    assert arena.is_clean()


def test_a_worker_that_is_told_to_end_over_and_over_ends_in_good_order() -> None:
    """Its input ends, its parent ends and the run stops it: all that may come at once."""
    for _ in range(5):
        worker = subprocess.Popen(
            [sys.executable, "-m", "tourney_runner.run.worker"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not _catches(worker.pid, signal.SIGTERM):
            time.sleep(0.001)
        while worker.poll() is None:
            worker.terminate()
        assert worker.communicate()[1] == ""


def _catches(pid: int, number: signal.Signals) -> bool:
    mask = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
    return bool(int(mask, 16) >> (number - 1) & 1)


BROKEN_GAME = """
from tourney_runner.games.tienlen import GAME as TIENLEN

class Broken(type(TIENLEN)):
    name = "broken"

    def new_state(self, options, seed, start):
        raise RuntimeError("a mistake in the rules")

GAME = Broken()
"""


def _install(arena: Arena, name: str, text: str) -> dict[str, str]:
    """Install a package with a game, for whoever gets these variables."""
    site = arena.path / "site"
    about = site / f"{name}-1.dist-info"
    about.mkdir(parents=True)
    (site / f"{name}.py").write_text(text)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[tourney.games]\nbroken = {name}:GAME\n")
    before = arena.environment.get("PYTHONPATH")
    return {"PYTHONPATH": str(site) + (f":{before}" if before else "")}


def test_a_mistake_of_the_program_is_reported_as_one(arena: Arena) -> None:
    env = _install(arena, "broken_game", BROKEN_GAME)
    config = arena.configure([arena.bot("one"), arena.bot("two")], game="broken")
    ended = arena.run("run", config, "--out", "out", status=1, env=env)
    assert "This is a bug of the game" in ended.stderr
    assert "a mistake in the rules" in ended.stderr
    assert arena.is_clean()
    assert "broken - " in arena.run("games", env=env).stdout  # games of other packages are found


def test_two_runs_at_once_share_no_core_and_both_end_well(arena: Arena) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one core")
    asked, go_on = arena.path / "asked", arena.path / "go on"
    wait = f"""
    open({str(asked)!r}, "a").write("x")
    while not os.path.exists({str(go_on)!r}): time.sleep(0.02)
    """
    config = arena.configure([arena.bot("one", move=wait), arena.bot("two", move=wait)])
    runs = []
    for number in (1, 2):
        runs.append(arena.start("run", config, "--out", number, "--jobs", 1))
        until(lambda: asked.exists() and asked.stat().st_size == len(runs))
    cores = [os.sched_getaffinity(pid) for pid in arena.workers()]
    bots = [pid for pid, command in arena.processes().items() if "bot.py" in command]
    claimed: list[Any] = [core for core in cores if len(core) == 1]
    assert len({frozenset(core) for core in claimed}) == len(claimed)
    assert {frozenset(os.sched_getaffinity(bot)) for bot in bots} == {
        frozenset(core) for core in cores
    }
    go_on.touch()
    for run in runs:
        arena.end(run)
    assert arena.files("1") == arena.files("2")
