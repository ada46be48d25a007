"""Tests of every message of the protocol, as it reaches a bot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from real_table import settings
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.seeds import deal_seed

if TYPE_CHECKING:
    from real_table import RealTable

GAMES = {"tienlen": {}, "speahx": {"max_turns": 60}}
"""Each game with rules that keep its deals short."""


def play(table: RealTable, game: str = "tienlen", **changes: Any) -> list[Any]:
    """Play and end the bots as at the end of a run, so that all they were told has arrived."""
    rules = {"players": len(table.bots), **GAMES[game], **changes.pop("rules", {})}
    records = table.play(game, rules=rules, **changes)
    table.close(politely=True)
    return records


@pytest.mark.parametrize("game", GAMES)
def test_hello_tells_version_game_limits_and_every_rule_once_a_process(
    table: RealTable, game: str
) -> None:
    table.seat(logging=True)
    table.seat(logging=True)
    play(table, game, deals=3, bank_ms=500)
    (hello,) = table.messages(0, "hello")
    options = find_game(game).options.model_validate({"players": 2, **GAMES[game]})
    assert hello["protocol"] == 1
    assert hello["game"] == game
    assert set(options.in_force()) == set(hello["rules"])
    assert hello["rules"]["players"] == 2
    assert hello["limits"] == {
        "start": 10_000,
        "move": 10_000,
        "bank": 500,
        "output": 1 << 20,
        "deal_output": 16 << 20,
        "memory": 512 << 20,
    }
    assert table.messages(1, "hello") == [hello]


def test_hello_leaves_a_memory_limit_out_that_is_not_there(table: RealTable) -> None:
    table.seat(logging=True)
    table.seat()
    play(table, memory=None)
    assert "memory" not in table.messages(0, "hello")[0]["limits"]


@pytest.mark.parametrize("game", GAMES)
def test_deal_tells_seat_players_hand_and_leader(table: RealTable, game: str) -> None:
    for _ in range(3):
        table.seat(logging=True)
    (record,) = play(table, game)
    chosen = settings(game, 3, rules=GAMES[game])
    state = dealt(chosen, record.key, record.start)
    for seat in range(3):
        (deal,) = table.messages(seat, "deal")
        assert deal["seat"] == seat
        assert deal["players"] == 3
        assert deal["hand"] == state.hand(seat)
        assert deal["leader"] == state.current_player
        assert 0 <= deal["seed"] < 2**53


@pytest.mark.parametrize("game", GAMES)
def test_a_bot_sees_neither_names_nor_the_deal_s_seed_or_number(
    table: RealTable, game: str
) -> None:
    table.seat(logging=True, name="Zaphod")
    table.seat(logging=True, name="Trillian")
    records = play(table, game, deals=2)
    master = settings(game, rules=GAMES[game]).master_seed
    for seat in range(2):
        told = json.dumps([entry for _, entry in table.log(seat)])
        assert "Zaphod" not in told
        assert "Trillian" not in told
        for record in records:
            assert str(deal_seed(master, *record.key)) not in told
        assert all(
            not {"round", "match", "number"} & deal.keys() for deal in table.messages(seat, "deal")
        )


def test_names_are_told_where_the_configuration_reveals_them(table: RealTable) -> None:
    table.seat(logging=True, name="Zaphod")
    table.seat(logging=True, name="Ford \N{SNOWMAN}")
    play(table, reveal_names=True)
    for seat in range(2):
        assert table.messages(seat, "deal")[0]["names"] == ["Zaphod", "Ford \N{SNOWMAN}"]


def test_the_bots_own_seeds_differ_by_bot_seat_deal_and_rotation(table: RealTable) -> None:
    for _ in range(3):
        table.seat(logging=True)
    chosen = settings(players=3, duplicate=3)
    tables = table.tables(chosen)
    for match in range(2):
        for rotation in range(3):
            list(tables.play(MatchPlan(0, match, (0, 1, 2), rotation)))
    table.close(politely=True)
    seeds = [deal["seed"] for seat in range(3) for deal in table.messages(seat, "deal")]
    assert len(seeds) == len(set(seeds)) == 18
    assert not {deal_seed(chosen.master_seed, 0, match, 0) for match in range(2)} & set(seeds)


def test_all_that_a_bot_is_told_is_the_same_when_a_match_is_played_again(table: RealTable) -> None:
    table.seat(logging=True)
    table.seat(logging=True)
    tables = table.tables(settings(deals=2))
    plan = MatchPlan(0, 0, (0, 1))
    first = [(record.moves, record.places) for record in tables.play(plan)]
    tables.pool.renew()
    assert [(record.moves, record.places) for record in tables.play(plan)] == first
    tables.pool.renew()
    for seat in range(2):
        said: dict[int, list[Any]] = {}
        for process, message in table.log(seat):
            said.setdefault(process, []).append(message)
        one, other = said.values()
        assert one == other


@pytest.mark.parametrize("game", GAMES)
def test_the_events_of_all_requests_and_the_result_are_the_whole_deal(
    table: RealTable, game: str
) -> None:
    for _ in range(3):
        table.seat(logging=True)
    (record,) = play(table, game)
    chosen = settings(game, 3, rules=GAMES[game])
    happened = [
        msgspec.json.decode(msgspec.json.encode(step.event)) for step in steps(chosen, record)
    ]
    for seat in range(3):
        told = [*table.messages(seat, "move"), *table.messages(seat, "result")]
        assert [event for message in told for event in message["events"]] == happened


@pytest.mark.parametrize("game", GAMES)
def test_a_view_is_what_the_player_may_know_at_that_moment(table: RealTable, game: str) -> None:
    for _ in range(3):
        table.seat(logging=True)
    (record,) = play(table, game)
    chosen = settings(game, 3, rules=GAMES[game])
    asked: dict[int, list[Any]] = {0: [], 1: [], 2: []}
    state = dealt(chosen, record.key, record.start)
    seat = state.current_player
    asked[seat].append(msgspec.to_builtins(state.observation(seat)))
    for step in steps(chosen, record):
        seat = step.state.current_player
        if seat >= 0:
            asked[seat].append(msgspec.to_builtins(step.state.observation(seat)))
    for seat, views in asked.items():
        told = [message["view"] for message in table.messages(seat, "move")]
        assert told == json.loads(json.dumps(views))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("mode", ["all", "canonical"])
def test_legal_answers_are_listed_as_the_bot_asked(table: RealTable, game: str, mode: str) -> None:
    table.seat(f'READY["legal"] = {mode!r}', logging=True)
    table.seat()
    (record,) = play(table, game)
    chosen = settings(game, rules=GAMES[game])
    state = dealt(chosen, record.key, record.start)
    first = table.messages(0, "move")[0]
    listed = state.legal_actions(mode)  # type: ignore[arg-type]
    expected = [state.write(action) for action in listed.actions]
    assert first["legal"] == json.loads(json.dumps(expected))
    assert first.get("legal_complete", True) is listed.complete


def test_no_legal_answers_are_listed_where_the_bot_did_not_ask(table: RealTable) -> None:
    # A bot that is silent about it plays its lowest cards, one at a time, or passes.
    table.seat(
        'del READY["legal"]\n'
        "def on_move(m):\n"
        ' view = m["view"]; table = view["table"]\n'
        ' if table: send({"id": m["id"], "pass": True})\n'
        ' else: send({"id": m["id"], "play": [view["hand"][0]]})',
        logging=True,
    )
    table.seat()
    (record,) = play(table)
    assert record.faults == ()
    assert all("legal" not in message for message in table.messages(0, "move"))


def test_every_request_of_a_process_has_an_id_of_its_own(table: RealTable) -> None:
    table.seat(logging=True)
    table.seat()
    play(table, deals=4)
    ids = [message["id"] for message in table.messages(0, "move")]
    assert len(ids) == len(set(ids))
    assert all(0 < number < 2**31 for number in ids)


def test_the_result_tells_places_and_points(table: RealTable) -> None:
    for _ in range(3):
        table.seat(logging=True)
    (record,) = play(table)
    for seat in range(3):
        (result,) = table.messages(seat, "result")
        assert result["places"] == list(record.places)
        assert result["points"] == list(record.points)


def test_messages_that_need_no_answer_go_out_in_one_write_with_the_next_request(
    table: RealTable,
) -> None:
    table.seat(
        "def chunks():\n"
        " while data := os.read(0, 1 << 16):\n"
        '  log([json.loads(line)["type"] for line in data.splitlines()])\n'
        "  yield from data.decode().splitlines()\n"
        "sys.stdin = chunks()"
    )
    table.seat()
    play(table, deals=2)
    together = [entry for _, entry in table.log(0)]
    assert together[:2] == [["hello"], ["deal", "move"]]
    assert ["result", "deal", "move"] in together
    assert together[-1] == ["result"]


def test_the_end_is_a_closed_stdin_and_time_to_say_goodbye(table: RealTable) -> None:
    table.seat('def on_end(): time.sleep(0.02); log("goodbye")')
    table.seat("def on_end(): time.sleep(60)")
    play(table)
    assert table.log(0)[-1][1] == "goodbye"


def test_bots_that_do_not_know_a_message_type_or_field_can_leave_it_alone(table: RealTable) -> None:
    # The bots of these tests do; so does every bundled one. Here: one that knows two types.
    table.seat("del on_deal, on_result", logging=True)
    table.seat()
    (record,) = play(table)
    assert record.faults == ()


def test_the_clock_shows_what_is_left_of_the_bank(table: RealTable) -> None:
    table.seat(
        "first = True\n"
        "def on_move(m):\n"
        " global first\n"
        ' if first: time.sleep(m["time"]["move"] / 1000 + 0.05)\n'
        " first = False\n"
        " send(answer(m))",
        logging=True,
    )
    table.seat()
    (first, second) = play(table, deals=2, move_ms=500, bank_ms=20_000)
    assert first.faults == second.faults == ()
    banks = [message["time"]["bank"] for message in table.messages(0, "move")]
    assert banks[0] == 20_000
    assert 0 < banks[1] < 20_000
    assert banks[-1] == 20_000, "a new deal has a new bank"
    assert all(message["time"]["move"] == 500 for message in table.messages(0, "move"))
