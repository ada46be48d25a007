"""Play on a Dask cluster: the same table as on one machine, whatever happens to the cluster."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.process.procfs import children, is_alive
from whole_program import Arena, until

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from cluster_fixtures import Cluster

LONG = {"schedule": {"rounds": 12}}
"""Some seconds, since the bots take naps: long enough to be disturbed in the middle."""
NO_ROOM = r"a worker program ended \(exit status 3\); the end of its stderr: no room in here"
LEAVES_A_DAEMON = """
if not os.fork():
    os.setsid()
    os.closerange(0, 3)
    time.sleep(600)
"""
CUTS_THE_LINE_ONCE = """
import sys
if "dask" in sys.orig_argv:
    import tourney_runner.cluster.worker_plugin as host
    enter = host.enter
    def cut(bundle, dask_worker):
        host.enter = enter
        for line, use in list(dask_worker._comms.items()):
            if use == "run":
                line.abort()
    host.enter = cut
    cut.__module__, cut.__qualname__ = enter.__module__, enter.__qualname__
"""
IMPATIENT = """
import tourney_runner.run.watchdog as silence
silence.REPORT_EVERY, silence.END_AFTER = 3.0, 6.0
"""


def _no_room(flag: Path) -> str:
    """A machine that has no room for worker programs, as long as there is a file of this name."""
    return f"""
import os, sys
if "tourney_runner.run.worker" in sys.orig_argv and os.path.exists({str(flag)!r}):
    os.write(2, b"a warning\\nno room in here\\n")
    os._exit(3)
"""


def _bots(arena: Arena) -> list[dict[str, Any]]:
    return [arena.bot(name, move="time.sleep(0.005)") for name in ("one", "two", "three")]


def _executable(arena: Arena) -> dict[str, Any]:
    """A bot that only works with its modes, its links and its build."""
    bot = arena.bot("built")
    folder = arena.path / "bots" / "built"
    (folder / "parts").mkdir(parents=True)
    source = folder / "parts" / "source.txt"
    source.write_text((arena.path / bot["cwd"] / "bot.py").read_text())
    (folder / "start").write_text('#!/bin/sh\nexec "$PYTHON" -E -S link/made.py\n')
    (folder / "start").chmod(0o755)
    (folder / "link").symlink_to("parts")
    bot["env"] |= {"PYTHON": os.environ.get("PYTHON", "python3")}
    build = ["sh", "-c", "cp parts/source.txt parts/made.py"]
    return bot | {"cwd": str(folder), "command": ["./start"], "build": [build]}


def _deals(arena: Arena, out: str) -> int:
    path = arena.path / out / "results.sqlite"
    if not path.exists():
        return 0
    db = sqlite3.connect(path)
    try:
        return int(db.execute("SELECT count(*) FROM deals").fetchone()[0])
    except sqlite3.OperationalError:  # it is being made
        return 0
    finally:
        db.close()


def _started(arena: Arena, config: Path, cluster: Cluster) -> subprocess.Popen[str]:
    """A run on the cluster that has stored some deals and has more to play."""
    process = arena.start("run", config, "--out", "far", "--dask", cluster.address)
    until(lambda: _deals(arena, "far") or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """The long tournament, played in peace on one machine."""
    arena = Arena(tmp_path_factory.mktemp("home"))
    arena.run("run", arena.configure(_bots(arena), **LONG), "--out", "out")
    return arena


def test_a_cluster_gives_the_same_table(arena: Arena, shared_cluster: Cluster) -> None:
    bots = [*_bots(arena), _executable(arena)]
    bots.append(arena.bot("fails at times", move="if luck // 7 % 9 == 0: sys.exit(1)"))
    config = arena.configure(bots, executor="dask", schedule={"rounds": 2})
    arena.run("run", config, "--out", "near", "--jobs", 2, "--dask", "local")
    address = {"DASK_SCHEDULER_ADDRESS": shared_cluster.address}
    arena.run("run", config, "--out", "far", env=address)
    arena.run("run", arena.configure(bots, schedule={"rounds": 2}), "--out", "here")
    assert arena.files("far") == arena.files("near") == arena.files("here")
    assert arena.rows("far")["fails at times"]["faults"]
    assert until(shared_cluster.is_clean)
    assert arena.is_clean()


def test_an_interrupted_run_leaves_nothing_and_continues_elsewhere(
    arena: Arena, shared_cluster: Cluster, at_home: Arena
) -> None:
    config = arena.configure(_bots(arena), **LONG)
    local = arena.start("run", config, "--out", "near", "--dask", "local", process_group=0)
    until(lambda: _deals(arena, "near"))
    os.killpg(local.pid, signal.SIGINT)  # as a terminal does
    assert "To continue" in arena.end(local, 130).stderr
    process = _started(arena, config, shared_cluster)
    process.send_signal(signal.SIGINT)
    assert "To continue" in arena.end(process, 130).stderr
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())
    arena.run("run", config, "--out", "far")
    assert arena.files("far") == at_home.files()


def test_an_interrupted_run_leaves_no_build_on_the_cluster(
    arena: Arena, shared_cluster: Cluster, tmp_path: Path
) -> None:
    flag = tmp_path / "pid"
    far_away = shared_cluster.place.path / "cache"
    build = f'case "$PWD" in "{far_away}"*) echo $$ > "{flag}"; exec sleep 600;; esac'
    bot = arena.bot("built") | {"build": [["sh", "-c", build]]}
    config = arena.configure([*_bots(arena), bot])
    process = arena.start("run", config, "--dask", shared_cluster.address)
    pid = int(until(lambda: flag.exists() and flag.read_text()))
    process.send_signal(signal.SIGINT)
    arena.end(process, 130)
    assert until(lambda: not is_alive(pid))
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())


def test_a_worker_program_that_dies_costs_nothing(
    arena: Arena, shared_cluster: Cluster, at_home: Arena
) -> None:
    bots = [*_bots(arena)[:2], arena.bot("three", first=LEAVES_A_DAEMON)]
    config = arena.configure(bots, **LONG)
    process = _started(arena, config, shared_cluster)
    for pid in shared_cluster.place.workers():
        os.kill(pid, signal.SIGKILL)
    arena.end(process)
    assert arena.files("far") == at_home.files()
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())


def test_a_worker_program_that_hangs_is_named_and_ended_and_costs_nothing(
    arena: Arena, shared_cluster: Cluster, tmp_path: Path
) -> None:
    config = arena.configure(_bots(arena), schedule={"rounds": 24})
    with shared_cluster.with_another(**_customized(tmp_path, IMPATIENT)) as dask_worker:
        until(lambda: len(_names(shared_cluster)) == len(shared_cluster.workers))
        process = _started(arena, config, shared_cluster)
        # A child of a Dask worker is a program of ours only once that has begun.
        [program] = until(
            lambda: set(children(dask_worker.pid)) & set(shared_cluster.place.workers())
        )
        os.kill(program, signal.SIGSTOP)
        ended = arena.end(process)
    named = f"worker {program} of the Dask worker tcp://"
    assert re.search(f"{named}.* has been silent for . s while (start|playing)", ended.stderr)
    assert "; it is ended, and the task is done again" in ended.stderr
    assert arena.table("far")["complete"]
    assert not any(row["faults"] for row in arena.rows("far").values())
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())


def test_a_dask_worker_that_hangs_is_named_and_others_play_until_it_answers(
    arena: Arena, shared_cluster: Cluster, at_home: Arena, tmp_path: Path
) -> None:
    config = arena.configure(_bots(arena), **LONG)
    words = ("run", config, "--out", "far", "--dask", shared_cluster.address)
    process = arena.start(*words, env=_customized(tmp_path, IMPATIENT))
    assert process.stderr is not None
    until(lambda: arena.deals("far"))
    hanging = shared_cluster.workers[0]
    os.kill(hanging.pid, signal.SIGSTOP)
    try:
        said = next(line for line in process.stderr if "its matches are played again" in line)
    finally:
        os.kill(hanging.pid, signal.SIGCONT)
    assert re.search("the Dask worker tcp://.* has not answered for . s; its matches", said)
    arena.end(process)
    assert arena.files("far") == at_home.files()
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())


def test_a_dask_worker_that_cannot_be_reached_for_a_moment_is_taken_on_again(
    arena: Arena, shared_cluster: Cluster, tmp_path: Path
) -> None:
    config = arena.configure(_bots(arena))
    with shared_cluster.with_another(**_customized(tmp_path, CUTS_THE_LINE_ONCE)):
        until(lambda: len(_names(shared_cluster)) == len(shared_cluster.workers))
        ended = arena.run("run", config, "--out", "far", "--dask", shared_cluster.address)
    assert "it is left out" not in ended.stderr
    assert arena.table("far")["complete"]


def test_a_machine_where_worker_programs_fail_is_left_out_and_others_play(
    arena: Arena, shared_cluster: Cluster, at_home: Arena, tmp_path: Path
) -> None:
    flag = tmp_path / "full"
    config = arena.configure(_bots(arena), **LONG)
    with shared_cluster.with_another(**_customized(tmp_path, _no_room(flag))) as filling_up:
        until(lambda: len(_names(shared_cluster)) == len(shared_cluster.workers))
        process = _started(arena, config, shared_cluster)
        programs = set(children(filling_up.pid)) & set(shared_cluster.place.workers())
        flag.touch()
        for program in programs:
            os.kill(program, signal.SIGKILL)
        ended = arena.end(process)
    assert re.search(f"the Dask worker tcp://.*{NO_ROOM}.*; it is left out", ended.stderr)
    assert arena.files("far") == at_home.files()
    assert until(lambda: shared_cluster.is_clean() and arena.is_clean())


def test_where_no_worker_program_works_the_run_pauses_and_no_bot_is_blamed(
    arena: Arena, tmp_path: Path
) -> None:
    flag = tmp_path / "full"
    flag.touch()
    config = arena.configure(_bots(arena))
    words = ("run", config, "--out", "far", "--dask", "local", "--jobs", 1)
    ended = arena.run(*words, env=_customized(tmp_path, _no_room(flag)), status=1)
    assert re.search(f"^the Dask worker tcp://.*{NO_ROOM}$", ended.stderr, re.MULTILINE)
    assert "No bot is blamed, and what was stored before is safe" in ended.stderr
    assert not re.search("the bot '.*' cannot start", ended.stderr)
    assert arena.is_clean()
    arena.run("run", config, "--out", "far")


def test_a_killed_dask_worker_costs_nothing(arena: Arena, cluster: Cluster, at_home: Arena) -> None:
    config = arena.configure(_bots(arena), **LONG)
    process = _started(arena, config, cluster)
    cluster.workers[0].kill()
    ended = arena.end(process)
    assert "is gone; its matches are played again" in ended.stderr
    assert arena.files("far") == at_home.files()
    assert _deals(arena, "far") == _deals(at_home, "out")  # each of them once
    assert until(lambda: cluster.is_clean() and arena.is_clean(), 300)


def test_a_lost_scheduler_pauses_the_run(arena: Arena, cluster: Cluster, at_home: Arena) -> None:
    config = arena.configure(_bots(arena), **LONG)
    process = _started(arena, config, cluster)
    cluster.scheduler.kill()
    ended = arena.end(process, 1)
    assert "is lost. What was stored before is safe" in ended.stderr
    for worker in cluster.workers:
        worker.wait(30)  # Dask ends its workers with their scheduler
    assert until(lambda: cluster.is_clean() and arena.is_clean())
    arena.run("run", config, "--out", "far")
    assert arena.files("far") == at_home.files()


def test_workers_that_cannot_play_are_named_and_hold_nobody_up(
    arena: Arena, shared_cluster: Cluster, tmp_path: Path
) -> None:
    old = _customized(
        tmp_path / "old", "import tourney_runner; tourney_runner.__version__ = '0.0.1'"
    )
    bare = _customized(tmp_path / "bare", "import sys; sys.modules['tourney_runner'] = None")
    config = arena.configure(_bots(arena), schedule={"rounds": 2})
    with (
        shared_cluster.with_another(**old),
        shared_cluster.with_another(**bare),
        shared_cluster.with_another("--resources", "match=0"),
        shared_cluster.with_another("--memory-limit", "60MB"),  # Dask pauses it at once
    ):
        until(lambda: len(_names(shared_cluster)) == len(shared_cluster.workers))
        ended = arena.run("run", config, "--out", "far", "--dask", shared_cluster.address)
    assert "has tourney 0.0.1, this is " in ended.stderr
    assert "has no tourney " in ended.stderr
    assert "may play no match, because its resource 'match' is below 1" in ended.stderr
    assert arena.table("far")["complete"]


def _customized(folder: Path, code: str) -> dict[str, str]:
    """Variables with which every Python runs some code first."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))}


def _names(cluster: Cluster) -> list[str]:
    with distributed.Client(cluster.address, set_as_default=False) as client:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    return [str(worker["name"]) for worker in workers.values()]


def test_a_machine_where_a_bot_does_not_start_plays_nothing(
    arena: Arena, shared_cluster: Cluster
) -> None:
    tool = arena.path / "tools" / "only-here"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{os.environ.get("PYTHON", "python3")}" "$@"\n')
    tool.chmod(0o755)
    bot = arena.bot("one") | {"command": ["only-here", "-E", "-S", "bot.py"]}
    config = arena.configure([bot, *_bots(arena)[1:]])
    path = os.pathsep.join((str(tool.parent), os.environ["PATH"]))
    with shared_cluster.with_another("--name", "fit", host="127.0.0.2", PATH=path):
        until(lambda: "fit" in _names(shared_cluster))
        ended = arena.run(
            "run", config, "--out", "far", "--dask", shared_cluster.address, env={"PATH": path}
        )
    assert ended.stderr.count("is on a machine where the bot 'one' does not start") == 2
    assert arena.table("far")["complete"]
    assert not arena.rows("far")["one"]["faults"]


def test_a_bot_that_starts_nowhere_is_named(arena: Arena, shared_cluster: Cluster) -> None:
    config = arena.configure([*_bots(arena), arena.bot("bad", first="sys.exit('no licence')")])
    words = ("run", config, "--out", "far", "--dask", shared_cluster.address)
    ended = arena.run(*words, status=2)
    assert "the bot 'bad' cannot start" in ended.stderr
    assert "no licence" in ended.stderr
    arena.run(*words, "--skip-broken")
    assert set(arena.rows("far")) == {"one", "two", "three"}


def test_without_dask_one_line_says_what_to_install(arena: Arena, tmp_path: Path) -> None:
    env = _customized(tmp_path, "import sys; sys.modules['distributed'] = None")
    config = arena.configure(_bots(arena))
    ended = arena.run("run", config, "--dask", "local", status=2, env=env)
    assert "pip install '.[dask]' in a checkout" in ended.stderr
    assert "pip install 'tourney-runner[dask]' without one" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_an_address_that_means_nothing_is_refused(arena: Arena) -> None:
    config = arena.configure(_bots(arena))
    ended = arena.run("run", config, "--dask", "no://where", status=2)
    assert "no Dask scheduler answers at no://where" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.slow
def test_without_workers_a_run_gives_up(arena: Arena, cluster: Cluster) -> None:
    for worker in cluster.workers:
        worker.kill()
    config = arena.configure(_bots(arena))
    ended = arena.run("run", config, "--dask", cluster.address, status=2)
    assert "dask worker" in ended.stderr


@pytest.mark.slow
def test_a_killed_runner_leaves_nothing_on_the_cluster(arena: Arena, cluster: Cluster) -> None:
    process = _started(arena, arena.configure(_bots(arena), schedule={"rounds": 600}), cluster)
    process.kill()
    process.communicate()
    assert until(cluster.is_clean)
