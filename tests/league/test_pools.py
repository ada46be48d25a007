"""Pools and the final of their best bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from whole_program import Arena


def _pools(arena: Arena, count: int) -> list[list[str]]:
    """The names of the bots in each pool's file."""
    documents = [
        yaml.safe_load((arena.path / f"cup-pool-{number}.yaml").read_text("utf-8"))
        for number in range(1, count + 1)
    ]
    return [[bot["name"] for bot in document["bots"]] for document in documents]


def _entries(arena: Arena, names: str, **keys: Any) -> list[dict[str, Any]]:
    entry = arena.bot("any")
    return [{**entry, "name": name, **keys.get(name, {})} for name in names]


def test_pools_and_their_final_are_played_from_end_to_end(arena: Arena) -> None:
    weak = arena.bot("weak", move="if luck // 7 % 5 == 0: sys.exit(1)")
    good = arena.bot("good")
    bots = [{**(good if name in "ab" else weak), "name": name} for name in "abcdef"]
    config = arena.configure(bots, rules={"players": 2}, schedule={"rounds": 2})
    drawn = arena.call("pools", "draw", config, "--pools", 2, "--seeding", "listed")
    assert _pools(arena, 2) == [["a", "d", "e"], ["b", "c", "f"]]
    early = arena.call("pools", "final", config, "--first", 1, status=2).stderr
    assert "this pool has not been played; play it with\n  tourney run" in early

    for line in drawn.stdout.splitlines():
        arena.run(*line.split()[1:])
    ended = arena.call("pools", "final", config, "--first", 2)
    order = [line.split()[1] for line in ended.stdout.splitlines()[:4]]
    assert order[:2] == ["a", "b"]
    final = yaml.safe_load((arena.path / "cup-final.yaml").read_text("utf-8"))
    assert [bot["name"] for bot in final["bots"]] == order
    assert final["schedule"] == {"format": "knockout", "seeding": "listed"}
    seeds = [yaml.safe_load(path.read_text("utf-8"))["seed"] for path in _files(arena)]
    assert len({1, *seeds}) == 4
    arena.run("run", "cup-final.yaml")
    assert arena.rows("results/cup-final").keys() == set(order)


def _files(arena: Arena) -> list[Path]:
    return [arena.path / f"cup-{part}.yaml" for part in ("pool-1", "pool-2", "final")]


def test_a_draw_is_repeatable_spreads_teams_and_never_changes_silently(arena: Arena) -> None:
    teams = {name: {"team": "x"} for name in "abc"}
    config = arena.configure(_entries(arena, "abcdefgh", **teams), schedule={"rounds": 1})
    arena.call("pools", "draw", config, "--pools", 3, "--lot", 5)
    first = _pools(arena, 3)
    assert sorted(name for pool in first for name in pool) == list("abcdefgh")
    assert sorted(map(len, first)) == [2, 3, 3]
    assert [len({*pool} & {*"abc"}) for pool in first] == [1, 1, 1]
    arena.call("pools", "draw", config, "--pools", 3, "--lot", 5)
    refused = arena.call("pools", "draw", config, "--pools", 3, "--lot", 6, status=2)
    assert "exists with other content; move it away first" in refused.stderr
    other = arena.call("pools", "draw", config, "--pools", 2, "--lot", 5, status=2)
    assert "cup-pool-3.yaml belongs to another draw" in other.stderr
    assert _pools(arena, 3) == first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("draw", "cup.yaml", "--pools", 3), "at most 2 pools can be filled"),
        (("final", "cup.yaml", "--first", 1), "there are no pools beside it yet"),
    ],
)
def test_what_cannot_be_made_is_refused(words: tuple[object, ...], said: str, arena: Arena) -> None:
    arena.configure(_entries(arena, "abcd"))
    assert said in arena.call("pools", *words, status=2).stderr
