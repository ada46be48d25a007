"""A stored deal is rebuilt exactly from its seed and its moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from real_table import settings
from tourney_runner.play.deal_replay import steps

if TYPE_CHECKING:
    from real_table import RealTable
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord

RULES: dict[str, dict[str, Any]] = {
    "tienlen": {"players": 4},
    "speahx": {"players": 4, "jokers": True, "max_turns": 200},
}
WILD = """
import random
chance = random.Random()
READY["legal"] = "all"
def on_deal(m): chance.seed(m["seed"])
def on_move(m): send({"id": m["id"], **chance.choice(m["legal"])})
"""


def rebuilt(chosen: PlaySettings, record: DealRecord) -> tuple[Any, Any]:
    *_, last = steps(chosen, record)
    assert last.state.is_terminal()
    return last.state.places(), last.state.returns()


@pytest.mark.parametrize("game", RULES)
@pytest.mark.parametrize("on_fault", ["forfeit", "substitute"])
def test_places_and_points_come_out_again_with_forfeits_and_fallbacks(
    table: RealTable, game: str, on_fault: str
) -> None:
    table.seat(WILD)
    table.seat(f"{WILD}\ndef on_result(m): sys.exit(1)")
    table.seat(
        f"{WILD}\nasked = 0\ndef on_move(m):\n global asked\n asked += 1\n"
        ' if asked == 4: send({"id": m["id"]})\n'
        ' send({"id": m["id"], **chance.choice(m["legal"])})'
    )
    table.seat("raise SystemExit(1)")
    chosen = settings(game, 4, rules=RULES[game], deals=3, on_fault=on_fault, max_faults=2)
    records = table.play(game, rules=RULES[game], deals=3, on_fault=on_fault, max_faults=2)
    assert any("!" in record.moves for record in records)
    assert any("?" in record.moves for record in records) == (on_fault == "substitute")
    for record in records:
        assert rebuilt(chosen, record) == (record.places, record.points)


def test_a_record_survives_its_way_through_the_store(table: RealTable) -> None:
    table.seat(WILD)
    table.seat("def on_move(m): sys.exit(1)")
    (record,) = table.play()
    packed = msgspec.msgpack.encode(record)
    again = msgspec.msgpack.decode(packed, type=type(record))
    assert again == record
    assert rebuilt(settings(), again) == (record.places, record.points)


def test_a_record_of_other_rules_is_refused(table: RealTable) -> None:
    table.seat(WILD)
    table.seat(WILD)
    (record,) = table.play()
    wrong = msgspec.structs.replace(record, moves=f"{record.moves} !0")
    with pytest.raises(ValueError, match="seat 0"):
        list(steps(settings(), wrong))
