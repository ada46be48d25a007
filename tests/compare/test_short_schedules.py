"""Under a table stands whether its deals suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whole_program import Arena


def test_bots_that_nothing_tells_apart_are_named_as_a_short_schedule(arena: Arena) -> None:
    bots = [arena.bot("one"), arena.bot("two", move="answer = legal[luck // 7 % len(legal)]")]
    ended = arena.run("run", arena.configure(bots), "--out", "out")
    assert "1 pair of neighbours is too close to tell apart" in ended.stdout
    assert "too close to tell apart" in arena.run("standings", "out").stdout


def test_a_clear_order_needs_no_warning(arena: Arena) -> None:
    bots = [arena.bot("good"), arena.bot("bad", move="sys.exit(1)")]
    ended = arena.run("run", arena.configure(bots, schedule={"rounds": 3}), "--out", "out")
    assert "bad" in ended.stdout
    assert "too close" not in ended.stdout
