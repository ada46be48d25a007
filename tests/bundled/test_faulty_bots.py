from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bundled_table import BOTS

if TYPE_CHECKING:
    from bundled_table import Play

KINDS = {
    "crash_start": "start",
    "crash_move": "crash",
    "illegal": "illegal",
    "late": "timeout",
    "silent": "timeout",
    "endless": "flood",
    "no_newline": "flood",
    "not_utf8": "malformed",
    "memory": "memory",
}


def test_every_faulty_bot_has_its_fault() -> None:
    assert set(KINDS) == {path.parent.name for path in BOTS.glob("faulty/*/bot.yaml")}


@pytest.mark.parametrize("game", ["tienlen", "speahx"])
@pytest.mark.parametrize(("bot", "kind"), KINDS.items(), ids=KINDS.keys())
def test_faulty_bots_fail_as_they_are_named(bot: str, kind: str, game: str, play: Play) -> None:
    # Only where time has to run out is there little of it: no fault hangs on a busy machine.
    move = "300ms" if kind in {"timeout", "malformed"} else "60s"
    limits = {"time": {"start": "30s", "move": move}, "limits": {"memory": "128M"}}
    [record] = play([f"faulty/{bot}", "random"], {"game": game}, **limits)
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(0, kind)]
    assert record.places == (2, 1)
