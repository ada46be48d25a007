"""A match: rotations of one deal, deals in a row, and who lives how long."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from real_table import settings
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.deal_replay import match_so_far, steps
from tourney_runner.play.faults import HostFailureError
from tourney_runner.play.in_process_players import HousePlayer
from tourney_runner.play.match import dealt, player_setup
from tourney_runner.play.match_plan import AutoForfeit, MatchPlan
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.results.records import DealKey

if TYPE_CHECKING:
    from pathlib import Path

    from real_table import RealTable
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord


def seed_with_an_instant_winner(others: str) -> tuple[PlaySettings, int]:
    """Rules and a deal in which somebody wins by his cards; gives who."""
    for seed in range(5000):  # some 1 in 150 deals
        rules = {"instant_wins": ("four_twos", "run_3_to_A"), "instant_win_others": others}
        chosen = settings(players=3, rules=rules, master_seed=str(seed))
        win = dealt(chosen, DealKey(0, 0, 0), None).observation(0).instant_win  # type: ignore[attr-defined]
        if win is not None:
            return chosen, win.seat
    raise AssertionError


def test_rotations_deal_the_same_cards_to_the_next_bot(table: RealTable) -> None:
    for _ in range(3):
        table.seat(logging=True)
    tables = table.tables(settings(players=3, duplicate=3))
    records = [
        record
        for rotation in range(3)
        for record in tables.play(MatchPlan(0, 0, (0, 1, 2), rotation))
    ]
    assert [record.seating for record in records] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert [record.key for record in records] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    hands = {bot: [deal["hand"] for deal in table.messages(bot, "deal")] for bot in range(3)}
    assert sorted(hands[0]) == sorted(hands[1]) == sorted(hands[2])
    assert hands[0][0] == hands[1][1] == hands[2][2]


def test_a_void_deal_leaves_no_slow_moves_and_no_notes_to_the_next(
    table: RealTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, away = tmp_path / "temporary", tmp_path / "away"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    once = f"if not os.path.exists({str(away)!r})"
    table.seat(f"def on_move(m):\n {once}: send({{}}); time.sleep(0.4)\n send(answer(m))")
    table.seat(
        "def on_move(m):\n"
        f" {once}: os.rename({str(temporary)!r}, {str(away)!r}); os._exit(1)\n"
        " send(answer(m))"
    )
    chosen = settings(players=2, move_ms=700, on_fault="substitute", max_faults=99)
    tables = table.tables(chosen)
    with pytest.raises(HostFailureError):  # nobody can be started any more
        list(tables.play(MatchPlan(0, 0, (0, 1))))
    temporary.mkdir()
    (record,) = tables.play(MatchPlan(0, 1, (0, 1)))
    assert all(0 <= move.move < len(record.moves.split()) for move in record.slow)
    assert record.notes == ()


def test_who_plays_without_a_program_is_ready_again_after_a_void_deal() -> None:
    chosen, tienlen, key = settings(players=2), find_game("tienlen"), DealKey(0, 0, 0)
    setup = player_setup(chosen, PlainLauncher(), WallClock())
    players = [
        HousePlayer(Bot(name=f"{at}", number=at), setup, tienlen, Random(1)) for at in range(2)
    ]
    for _ in range(2):
        state = dealt(chosen, key, None)
        for player in players:
            player.stop()  # as all at a table are whose deal the host has spoilt
            player.sit(state)
        deal = DealInPlay(
            tienlen, state, key, players, seeds=[0, 0], settings=chosen, faults_so_far=[0, 0]
        )
        assert deal.play(None).faults == ()


def test_no_process_meets_the_same_deal_twice_when_renewed_between_rotations(
    table: RealTable,
) -> None:
    for _ in range(3):
        table.seat(logging=True)
    chosen = settings(players=3, duplicate=3)
    tables = table.tables(chosen)
    plans = [
        [MatchPlan(number, match, (0, 1, 2), rotation) for number in range(2) for match in range(3)]
        for rotation in range(3)
    ]
    for wave in plans:
        for plan in wave:
            list(tables.play(plan))
        tables.pool.renew()
    deals = {
        tuple(dealt(chosen, DealKey(number, match, 0), None).hand(seat)): (number, match)
        for number in range(2)
        for match in range(3)
        for seat in range(3)
    }
    for bot in range(3):
        met: dict[int, list[tuple[int, int]]] = {}
        for process, message in table.log(bot):
            if message["type"] == "deal":
                met.setdefault(process, []).append(deals[tuple(message["hand"])])
        assert len(met) == 3
        assert all(len(known) == len(set(known)) == 6 for known in met.values())


def test_bots_live_from_match_to_match(table: RealTable) -> None:
    table.seat(logging=True)
    table.seat(logging=True)
    tables = table.tables(settings())
    for match in range(4):
        list(tables.play(MatchPlan(0, match, (0, 1))))
    assert len({process for process, _ in table.log(0)}) == 1


def test_bots_are_renewed_after_every_match_where_the_configuration_says_so(
    table: RealTable,
) -> None:
    table.seat(logging=True)
    table.seat(logging=True)
    tables = table.tables(settings(restart="match", deals=2))
    for match in range(3):
        list(tables.play(MatchPlan(0, match, (0, 1))))
    assert len({process for process, _ in table.log(0)}) == 3
    assert len(table.messages(0, "result")) == 6


def test_the_least_recently_used_bots_are_ended_when_too_many_live(table: RealTable) -> None:
    for _ in range(4):
        table.seat("log('start')\ndef on_end(): log('end')")
    tables = table.tables(settings(), most_alive=2)
    for match, seats in enumerate([(0, 1), (2, 3), (2, 1), (2, 0)]):
        list(tables.play(MatchPlan(0, match, seats)))
    starts = [[entry for _, entry in table.log(bot)] for bot in range(4)]
    assert starts[0] == ["start", "end", "start"]
    assert starts[1] == ["start", "end", "start", "end"]
    assert starts[2] == ["start"]
    assert starts[3] == ["start", "end"]


def test_a_table_gets_all_the_bots_it_needs(table: RealTable) -> None:
    for _ in range(4):
        table.seat()
    chosen = settings(players=4)
    (record,) = table.tables(chosen, most_alive=1).play(MatchPlan(0, 0, (0, 1, 2, 3)))
    assert record.faults == ()


def test_a_match_of_fresh_deals_has_other_cards_in_each(table: RealTable) -> None:
    table.seat(logging=True)
    table.seat()
    records = table.play(deals=5)
    assert [record.key.deal for record in records] == list(range(5))
    hands = [tuple(deal["hand"]) for deal in table.messages(0, "deal")]
    assert len(set(hands)) == 5


def test_the_previous_winner_leads_the_next_deal_of_tien_len(table: RealTable) -> None:
    table.seat()
    table.seat()
    records = table.play(deals=6)
    assert records[0].start is None
    for before, record in pairwise(records):
        assert record.start == before.places.index(1)
        first = next(iter(steps(settings(deals=6), record)))
        assert first.seat == record.start


def test_the_dealer_rotates_in_speahx(table: RealTable) -> None:
    for _ in range(3):
        table.seat()
    rules = {"players": 3, "max_turns": 30}
    records = table.play("speahx", rules=rules, deals=4)
    starts = [record.start for record in records]
    assert starts == [(starts[0] + number) % 3 for number in range(4)]  # type: ignore[operator]


def test_a_match_to_a_target_ends_with_one_sole_leader(table: RealTable) -> None:
    table.seat()
    table.seat()
    records = table.play(deals=None, target=7)
    totals = [0.0, 0.0]
    for number, record in enumerate(records, 1):
        totals = [have + more for have, more in zip(totals, record.points, strict=True)]
        over = max(totals) >= 7 and totals[0] != totals[1]
        assert over == (number == len(records))


@pytest.mark.parametrize("length", [{"deals": 5}, {"deals": None, "target": 12}])
def test_a_match_that_was_cut_short_goes_on_as_if_it_never_was(
    length: dict[str, int | None], table: RealTable
) -> None:
    table.seat(
        "def on_move(m): send(answer(m) if m['id'] % 3 else {'id': m['id'], 'play': ['3S']*9})"
    )
    table.seat()
    chosen = settings(on_fault="substitute", max_faults=5, **length)
    tables = table.tables(chosen)
    plan = MatchPlan(0, 0, (0, 1))
    whole = list(tables.play(plan))
    assert len(whole) > 2
    faults = [fault for record in whole for fault in record.faults]
    assert len(faults) > 5
    assert not faults[-1].substituted
    for number in range(1, len(whole)):
        so_far = match_so_far(chosen, whole[:number])
        assert so_far is not None
        rest = list(tables.play(msgspec.structs.replace(plan, so_far=so_far)))
        assert [_course(record) for record in rest] == [_course(one) for one in whole[number:]]
        later = match_so_far(chosen, rest[:1], so_far)
        assert later == match_so_far(chosen, whole[: number + 1])
    assert match_so_far(chosen, whole) is None


def _course(record: DealRecord) -> tuple[object, ...]:
    faults = [(fault.seat, fault.move, fault.substituted) for fault in record.faults]
    return record.key, record.start, record.moves, record.points, faults


@pytest.mark.parametrize("others", ["zero", "play_on"])
def test_an_instant_winner_needs_no_working_bot(table: RealTable, others: str) -> None:
    chosen, winner = seed_with_an_instant_winner(others)
    for seat in range(3):
        table.seat("log('start'); raise SystemExit(1)" if seat == winner else "")
    (record,) = table.tables(chosen).play(MatchPlan(0, 0, (0, 1, 2)))
    assert record.faults == ()
    assert record.places[winner] == 1
    with pytest.raises(FileNotFoundError):
        table.log(winner)


def test_bots_that_live_are_told_of_a_deal_that_the_cards_decide(table: RealTable) -> None:
    chosen, winner = seed_with_an_instant_winner("zero")
    for _ in range(3):
        table.seat(logging=True)
    tables = table.tables(chosen)
    list(tables.play(MatchPlan(0, 1, (0, 1, 2))))
    (record,) = tables.play(MatchPlan(0, 0, (0, 1, 2)))
    tables.pool.renew()
    assert record.moves == ""
    for seat in range(3):
        deal, result = table.messages(seat, "deal")[-1], table.messages(seat, "result")[-1]
        assert deal["leader"] is None
        assert result["places"].index(1) == winner


def test_results_are_told_only_of_deals_that_a_bot_was_told_of(table: RealTable) -> None:
    for _ in range(3):
        table.seat(logging=True)
    tables = table.tables(settings(players=3))
    list(tables.play(MatchPlan(0, 0, (0, 1, 2))))
    list(tables.play(MatchPlan(0, 1, (0, 1, 2), retired=(AutoForfeit(1, "crash", "it failed"),))))
    tables.pool.renew()
    assert len(table.messages(0, "result")) == 2
    assert len(table.messages(1, "result")) == len(table.messages(1, "deal")) == 1
