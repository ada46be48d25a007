"""The seed: public, or sealed until the tournament is closed."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.results.store import FILE_NAME, Store
from whole_program import until

if TYPE_CHECKING:
    from whole_program import Arena


def _kept(arena: Arena, out: str = "out") -> str:
    """Return the seed of the last rounds."""
    with closing(Store(arena.path / out / FILE_NAME)) as store:
        record = store.tournament()
    return record.later_seeds[-1].master if record.later_seeds else record.seed.master


def _published(arena: Arena, out: str = "out") -> str:
    """Everything of a tournament that others may read."""
    files = [path for path in (arena.path / out).rglob("*") if path.suffix != ".sqlite"]
    return "".join(path.read_bytes().decode(errors="replace") for path in files if path.is_file())


def _deals(arena: Arena) -> list[Any]:
    with closing(Store(arena.path / "out" / FILE_NAME)) as store:
        return [(one.key, one.seating, one.moves) for one in store.records()]


def test_a_secret_seed_is_sealed_until_the_tournament_is_closed(arena: Arena) -> None:
    bots = [arena.bot(name, move="time.sleep(0.003)") for name in ("one", "two")]
    config = arena.configure(bots, seed="secret", schedule={"rounds": 8})
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    os.kill(process.pid, signal.SIGINT)
    ended = arena.end(process, 130)
    seed = _kept(arena)
    shown = hashlib.sha256(seed.encode()).hexdigest()
    assert f"sealed until the tournament is closed; SHA-256 {shown}" in ended.stderr
    assert seed not in ended.stdout + ended.stderr + _published(arena)
    ended = arena.run("run", config, "--out", "out")
    table = arena.table()
    assert table["complete"]
    assert (table["seed"], table["seed_sha256"], table["sealed"]) == (None, shown, True)
    assert seed not in ended.stdout + ended.stderr + _published(arena)
    assert shown in (arena.path / "out" / "index.html").read_text()
    ended = arena.run("run", config, "--out", "out", "--close")
    assert f"the seed: {seed}\n" in ended.stdout
    table = arena.table()
    assert (table["seed"], table["seed_sha256"], table["sealed"]) == (seed, shown, False)
    assert seed in (arena.path / "out" / "index.html").read_text()


def test_a_closed_tournament_is_opened_again_only_on_a_new_seed(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two")]
    config = arena.configure(bots, seed="secret", schedule={"rounds": 2})
    arena.run("run", config, "--out", "out", "--close")
    first, before = _kept(arena), _deals(arena)
    more = arena.configure(bots, seed="secret", schedule={"rounds": 4})
    ended = arena.run("run", more, "--out", "out", status=2)
    assert "was closed on" in ended.stderr
    assert _deals(arena) == before
    ended = arena.run("rerun", "out", "--deal", "1", "--reason", "why not", status=2)
    assert "this tournament is closed" in ended.stderr
    ended = arena.run("run", more, "--out", "out", "--reopen")
    assert "the cards from round 3 on come from a new one" in ended.stderr
    second, after = _kept(arena), _deals(arena)
    assert after[: len(before)] == before
    assert len(after) == 2 * len(before)
    assert second != first
    assert second not in _published(arena) + ended.stdout + ended.stderr
    table = arena.table()
    assert (table["seed"], table["sealed"]) == (first, True)
    assert table["later_seeds"] == [
        {"first_round": 2, "seed": None, "sha256": hashlib.sha256(second.encode()).hexdigest()}
    ]
    arena.run("verify", "out", "--sample", "8")
    ended = arena.run("run", more, "--out", "out", "--close")
    assert f"from round 3: {second}\n" in ended.stdout
    assert arena.table()["later_seeds"][0]["seed"] == second


def test_a_seed_that_is_left_out_is_secret_and_drawn_for_each_tournament(arena: Arena) -> None:
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    config.write_text(config.read_text().replace("seed: 1\n", ""))
    for out in ("1", "2"):
        ended = arena.run("run", config, "--out", out)
        assert "sealed until the tournament is closed" in ended.stderr
    assert _kept(arena, "1") != _kept(arena, "2")


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
    plans = [arena.call("plan", config).stdout.splitlines() for _ in range(2)]
    # The estimated duration comes from a measurement.
    first, second = ([line for line in plan if "duration" not in line] for plan in plans)
    assert first == second
    assert any("drawn at the first run" in line for line in first)


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
