"""The seed: shown, or kept from everybody until the tournament is over."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.results.store import Store
from whole_program import until

if TYPE_CHECKING:
    from whole_program import Arena


def _kept(arena: Arena, out: str = "out") -> str:
    with closing(Store(arena.path / out / "results.sqlite")) as store:
        return store.tournament().seed.master


def test_a_secret_seed_is_shown_as_a_hash_until_the_run_is_complete(arena: Arena) -> None:
    bots = [arena.bot(name, move="time.sleep(0.003)") for name in ("one", "two")]
    config = arena.configure(bots, seed="secret", schedule={"rounds": 8})
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    os.kill(process.pid, signal.SIGINT)
    ended = arena.end(process, 130)
    seed = _kept(arena)
    shown = hashlib.sha256(seed.encode()).hexdigest()
    table = json.loads(arena.run("standings", "out", "--format", "json").stdout)
    assert (table["seed"], table["seed_sha256"], table["complete"]) == (None, shown, False)
    assert shown in ended.stderr
    published = [ended.stdout, ended.stderr, arena.logs()]
    published += [arena.run("standings", "out", "--format", f).stdout for f in ("table", "md")]
    for text in published:
        assert seed not in text
    arena.run("run", config, "--out", "out")
    table = arena.table()
    assert (table["seed"], table["seed_sha256"], table["complete"]) == (seed, shown, True)
    assert seed in (arena.path / "out" / "index.html").read_text()


def test_a_seed_that_is_left_out_is_secret_and_drawn_for_each_tournament(arena: Arena) -> None:
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    config.write_text(config.read_text().replace("seed: 1\n", ""))
    for out in ("1", "2"):
        ended = arena.run("run", config, "--out", out)
        assert "secret until the tournament is over" in ended.stderr
    assert arena.table("1")["seed"] != arena.table("2")["seed"]


def test_a_given_seed_is_shown_and_stands_above_the_configured_one(arena: Arena) -> None:
    bots = [arena.bot("one"), arena.bot("two")]
    ended = arena.run("run", arena.configure(bots, seed=1), "--out", "out", "--seed", "2")
    assert "seed: 2" in ended.stderr
    assert arena.table()["seed"] == 2
    ended = arena.run("run", arena.configure(bots, seed=1), "--out", "out", status=2)
    assert "seed: was 2, is 1" in ended.stderr


def test_a_plan_draws_no_seed(arena: Arena) -> None:
    """It would be another one than the run draws."""
    config = arena.configure([arena.bot("one"), arena.bot("two")], seed="secret")
    plans = [arena.run("plan", config).stdout for _ in range(2)]
    assert plans[0] == plans[1]
    assert "drawn at the first run" in plans[0]


def test_a_public_seed_is_called_public_once_where_an_untrusted_bot_plays(arena: Arena) -> None:
    bots = [arena.bot("one"), {**arena.bot("two"), "trusted": False}]
    note = "the seed 1 is public: a bot that guesses it knows every hand"
    config = arena.configure(bots, seed=1)
    assert arena.run("run", config, "--out", "out").stderr.count(note) == 1
    more = arena.configure(bots, seed=1, schedule={"rounds": 2})
    assert note not in arena.run("run", more, "--out", "out").stderr
    secret = arena.configure(bots, seed="secret")
    assert "is public" not in arena.run("run", secret, "--out", "other").stderr


def test_results_of_an_earlier_version_go_on_with_their_seed_in_words(arena: Arena) -> None:
    frozen = Path(__file__).parents[1] / "data" / "results" / "0.1.0-9ef054c"
    shutil.copytree(frozen, arena.path / "frozen")
    config = arena.path / "frozen" / "gauntlet-complete.yaml"
    ended = arena.run("run", config, "--out", arena.path / "frozen" / "gauntlet-complete")
    assert "a seed in words" not in ended.stderr
    assert arena.table("frozen/gauntlet-complete")["seed"] == "a seed in words"
    ended = arena.run("run", config, "--out", "other", status=2)
    assert "expected a whole number or secret" in ended.stderr
