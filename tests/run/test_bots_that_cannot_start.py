"""A bot that cannot start is found before round 1."""

from __future__ import annotations

import resource
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from whole_program import Arena

SHOUTS = "sys.exit('no \\x1b[2Jlibrary \\u202ehere')"


def test_nothing_is_played_and_all_of_them_are_named(arena: Arena) -> None:
    bots = [
        arena.bot("good"),
        arena.bot("shouts", first=SHOUTS),
        arena.bot("fine"),
        arena.bundled("faulty/crash_start", "crasher"),
        arena.bot("wrong", base="print('hello')"),
    ]
    ended = arena.run("run", arena.configure(bots), "--out", "out", status=2)
    for name in ("shouts", "crasher", "wrong"):
        assert f"the bot '{name}' cannot start" in ended.stderr
    assert "'good'" not in ended.stderr
    assert "library" in ended.stderr
    assert "this bot always fails at its start" in ended.stderr
    assert "Nothing was played" in ended.stderr
    assert "--skip-broken" in ended.stderr
    assert not {"\x1b", "\u202e"} & set(ended.stderr)  # a bot must not write to our terminal
    assert ended.stdout == ""
    assert not (arena.path / "out").exists()
    assert arena.is_clean()


def test_skip_broken_leaves_them_out_and_plays(arena: Arena) -> None:
    bots = [arena.bot("shouts", first=SHOUTS), arena.bot("good"), arena.bot("fine")]
    config = arena.configure(bots)
    ended = arena.run("run", config, "--out", "out", "--skip-broken")
    assert set(arena.rows()) == {"good", "fine"}
    assert "shouts is left out" in ended.stderr
    more = arena.configure(bots, schedule={"rounds": 2})
    ended = arena.run("run", more, "--out", "out")  # what was begun without it goes on without it
    assert "shouts is left out: it could not start when this began" in ended.stderr
    assert set(arena.rows()) == {"good", "fine"}
    assert arena.table()["complete"]
    arena.run("run", arena.configure(bots[1:], schedule={"rounds": 2}), "--out", "alone")
    assert arena.files("alone") == arena.files("out")


def test_too_few_bots_are_left(arena: Arena) -> None:
    bots = [arena.bot("shouts", first=SHOUTS), arena.bot("good")]
    ended = arena.run("run", arena.configure(bots), "--out", "out", "--skip-broken", status=2)
    assert "bots that can start: 1, too few for a table of 2" in ended.stderr


def test_a_bot_that_does_not_build_cannot_start(arena: Arena) -> None:
    broken = arena.bot("broken") | {"build": [["sh", "-c", "echo no compiler today; exit 3"]]}
    config = arena.configure([broken, arena.bot("good"), arena.bot("fine")])
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "no compiler today" in ended.stderr
    assert "Nothing was played" in ended.stderr
    arena.run("run", config, "--out", "out", "--skip-broken")
    assert set(arena.rows()) == {"good", "fine"}


def test_a_bot_that_stops_to_start_in_the_middle_is_not_left_out(arena: Arena) -> None:
    """Its hash is the same: what it needs outside its folder has gone."""
    need = arena.path / "library"
    need.touch()
    bots = [arena.bot("needy", first=f"open({str(need)!r})"), arena.bot("good")]
    arena.run("run", arena.configure(bots), "--out", "out")
    before = arena.files()
    need.unlink()
    more = arena.configure(bots, schedule={"rounds": 2})
    ended = arena.run("run", more, "--out", "out", "--skip-broken", status=2)
    assert "No such file" in ended.stderr
    assert "cannot be left out now" in ended.stderr
    assert arena.files() == before


def test_a_bot_that_takes_its_time_to_start_is_named(arena: Arena) -> None:
    bots = [arena.bot("slow", first="time.sleep(2.5)"), arena.bot("good")]
    ended = arena.run("run", arena.configure(bots), "--out", "out")
    assert "waiting for slow to start" in ended.stderr
    assert "waiting for good" not in ended.stderr


def test_a_bot_that_never_says_that_it_is_ready_cannot_start(arena: Arena) -> None:
    bots = [arena.bot("mute", base="import time; time.sleep(600)"), arena.bot("good")]
    config = arena.configure(bots, time={"start": "1s", "move": "60s"})
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "the bot 'mute' cannot start" in ended.stderr
    assert "'good'" not in ended.stderr
    assert arena.is_clean()


def test_fresh_puts_the_old_results_back_when_nothing_can_be_played(arena: Arena) -> None:
    good = [arena.bot("good"), arena.bot("fine")]
    arena.run("run", arena.configure(good), "--out", "out")
    before = arena.files()
    bad = arena.configure([*good, arena.bot("shouts", first=SHOUTS)])
    arena.run("run", bad, "--out", "out", "--fresh", status=2)
    assert arena.files() == before
    assert [path.name for path in arena.path.glob("out*")] == ["out"]


@pytest.mark.parametrize("words", [["--skip-broken"], []])
def test_a_missing_program_is_said_before_anything_starts(words: list[str], arena: Arena) -> None:
    lost = {"name": "lost", "command": "no-such-program-here"}
    config = arena.configure([arena.bot("good"), arena.bot("fine"), lost])
    ended = arena.run("run", config, "--out", "out", *words, status=0 if words else 2)
    assert "no-such-program-here" in ended.stderr
    assert (arena.path / "out").exists() == bool(words)


@pytest.mark.parametrize("sandbox", ["auto", "limits"])
def test_no_bot_is_blamed_for_a_host_that_allows_too_few_open_files(
    sandbox: str, arena: Arena
) -> None:
    config = arena.configure([arena.bot("one"), arena.bot("two")], sandbox=sandbox)
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (20, 20))
    ended = arena.run("run", config, "--out", "out", status=2, preexec_fn=few)
    assert "20 open files at most" in ended.stderr
    assert "ulimit -n" in ended.stderr
    assert "one" not in ended.stderr.split()
    assert not (arena.path / "out").exists()


def test_a_host_that_allows_too_little_memory_is_named_and_not_a_library(arena: Arena) -> None:
    little = partial(resource.setrlimit, resource.RLIMIT_AS, (200_000 << 10, 200_000 << 10))
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = arena.run("run", config, "--out", "out", status=2, preexec_fn=little)
    assert "ulimit -v" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
