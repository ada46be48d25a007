"""Under a table stands whether its deals suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whole_program import Arena


def test_bots_that_nothing_tells_apart_are_named_as_a_short_schedule(arena: Arena) -> None:
    bots = [arena.bot("one"), arena.bot("two", move="answer = legal[luck // 7 % len(legal)]")]
    config = arena.configure(bots, schedule={"rounds": 8}, match={"duplicate": False})
    ended = arena.run("run", config, "--out", "out")
    statement = "1 adjacent pair is too close to call."
    assert statement in ended.stdout
    for name in ("standings.json", "standings.md", "index.html"):
        assert statement in (arena.path / "out" / name).read_text("utf-8").replace("\\", "")
    for form in ("table", "tex", "txt"):
        assert statement in arena.run("standings", "out", "--format", form).stdout


def test_a_table_of_few_matches_claims_nothing(arena: Arena) -> None:
    bots = [arena.bot("good"), arena.bot("bad", move="sys.exit(1)")]
    ended = arena.run("run", arena.configure(bots), "--out", "out")
    assert "There is too little data" in ended.stdout
    assert "too close" not in ended.stdout
    row = arena.table()["entrants"][0]
    assert (row["status"], row["interval"], row["rank_range"], row["best"]) == (
        "ranked", None, None, None,
    )  # fmt: skip


def test_a_clear_order_needs_no_warning(arena: Arena) -> None:
    bots = [arena.bot("good"), arena.bot("bad", move="sys.exit(1)")]
    ended = arena.run("run", arena.configure(bots, schedule={"rounds": 8}), "--out", "out")
    assert "bad" in ended.stdout
    assert "too close" not in ended.stdout
