"""Leaving a deal, the last turn, places and points."""

from __future__ import annotations

from typing import Any

import pytest
from tourney_runner.games.base import TERMINAL, IllegalActionError
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.actions import SpeahxAnswer
from tourney_runner.games.speahx.cards import LAID_NAMES, NUMBERS
from tourney_runner.games.speahx.position import Table
from tourney_runner.games.speahx.state import SpeahxState


def table_of(*hands: str, pile: str = "7H", **more: Any) -> Table:
    """A late position: no reserve, seat 0 to act."""
    return Table(
        **{
            "hands": [sorted(NUMBERS[card] for card in hand.split()) for hand in hands],
            "reserve": [],
            "dealer": len(hands) - 1,
            "seat": 0,
            "pile": [LAID_NAMES[card] for card in pile.split()],
            **more,
        }
    )


def game_of(table: Table, **options: Any) -> SpeahxState:
    return SpeahxState(GAME.options(players=len(table.hands), **options), table)


def play(state: SpeahxState, *codes: str) -> None:
    for code in codes:
        state.apply_action(GAME.decode(code))


def test_the_player_to_act_forfeits_with_all_his_cards() -> None:
    table = table_of("9H 9C", "3S", "4S", face_down=[[1, 2], [], []], drawn=[5])
    state = game_of(table)
    event = state.forfeit(0)
    assert (event.removed, event.next) == (5, 1)
    view = state.observation(1)
    assert (view.pile, view.hand_sizes, view.forfeited, view.drawn_size) == (
        ("7H",), (0, 1, 1), (0,), 0,
    )  # fmt: skip
    assert state.describe(event) == "seat 0 forfeits and leaves the deal with 5 cards"


def test_the_next_one_must_follow_the_call_that_stands() -> None:
    state = game_of(table_of("9H 9C", "3S 4H", "4S", pile="2H>S"))
    state.forfeit(0)
    assert state.observation(1).call == "S"
    assert [GAME.encode(action) for action in state.legal_actions().actions] == ["3S", "-"]


def test_the_next_one_leads_when_the_pile_is_empty() -> None:
    state = game_of(table_of("9H 9C", "3S 4H", "4S", pile=""))
    state.forfeit(0)
    assert [GAME.encode(action) for action in state.legal_actions().actions] == ["3S", "4H"]


def test_forfeiting_out_of_turn_leaves_the_turn_and_its_drawn_cards() -> None:
    state = game_of(table_of("9H 9C", "3S", "4S", drawn=[NUMBERS["8C"]]))
    event = state.forfeit(2)
    assert (event.removed, event.next) == (1, 0)
    assert state.observation(0).drawn == ("8C",)
    play(state, "-")
    assert state.current_player == 1


def test_the_one_who_is_left_takes_the_next_place() -> None:
    state = game_of(table_of("9H", "3S 3C", "4S", "5S"))
    play(state, "9H")
    state.forfeit(3)
    state.forfeit(2)
    assert state.is_terminal()
    assert state.places() == (1, 2, 3, 4)
    assert state.returns() == (3.0, 2.0, 0.0, 0.0)
    assert state.scene().seats[1].state == "out"


def test_the_earlier_forfeit_is_the_lower_place_and_has_no_points() -> None:
    state = game_of(table_of("9H", "3S", "4S", "5S"), points=[9, 8, 7, 6])
    for seat in (1, 3, 0):
        state.forfeit(seat)
    assert state.places() == (2, 4, 1, 3)
    assert state.returns() == (0.0, 0.0, 9.0, 0.0)
    assert [view.place for view in state.scene().seats] == [2, 4, 1, 3]


def test_who_is_out_or_gone_cannot_forfeit() -> None:
    state = game_of(table_of("9H", "3S", "4S", "5S"))
    play(state, "9H")
    state.forfeit(1)
    for seat in (0, 1):
        with pytest.raises(ValueError, match=f"seat {seat} is not in play"):
            state.forfeit(seat)


def test_nobody_forfeits_a_finished_deal() -> None:
    state = game_of(table_of("9H", "3S"))
    play(state, "9H")
    assert state.is_terminal()
    with pytest.raises(ValueError, match="not in play"):
        state.forfeit(1)


def test_the_deal_ends_with_its_last_turn() -> None:
    state = game_of(table_of("9H 3D", "3S 3C", "4S"), max_turns=2)
    play(state, "9H")
    assert state.current_player == 1
    play(state, "-")
    assert state.current_player == TERMINAL
    assert state.places() == (1, 3, 1)
    assert state.returns() == (1.5, 0.0, 1.5)


def test_going_out_in_the_last_turn_counts() -> None:
    state = game_of(table_of("9H", "3S 3C", "4S"), max_turns=1)
    play(state, "9H")
    assert state.places() == (1, 3, 2)


def test_drawing_is_no_turn_but_the_move_after_a_ten_is_one() -> None:
    state = game_of(
        table_of("TH 9H 3D", "3S 3C", "4S", reserve=[NUMBERS["8C"]]), chance_max=1, max_turns=3
    )
    assert state.observation(0).turn == 1
    play(state, "TH")
    assert (state.current_player, state.observation(0).turn) == (0, 2)
    play(state, "+")
    assert state.observation(0).turn == 2
    play(state, "8C")
    assert (state.current_player, state.observation(0).turn) == (1, 3)


def test_chance_cards_may_be_drawn_anew_after_a_ten() -> None:
    reserve = [NUMBERS[card] for card in ("8S", "TH", "8C")]
    state = game_of(table_of("3D", "3S", "4S", reserve=reserve), chance_max=2)
    play(state, "+", "+")
    assert state.observation(0).chances == 0
    play(state, "TH")
    assert state.observation(0).chances == 1  # two allowed, one card left in the reserve


def test_in_scope_game_a_ten_gives_no_chance_cards_back() -> None:
    reserve = [NUMBERS[card] for card in ("8S", "4D", "TH", "8C")]
    state = game_of(table_of("3D", "3S", "4S", reserve=reserve), chance_max=2, chance_scope="game")
    play(state, "+", "+", "TH")
    assert [state.observation(seat).chances for seat in range(3)] == [0, 2, 2]


def test_chances_count_a_table_card_that_may_be_turned() -> None:
    state = game_of(table_of("", "3S 3C", "4S", face_down=[[0], [1, 2], [3]]), table_cards=5)
    assert [state.observation(seat).chances for seat in range(3)] == [1, 0, 0]
    play(state, "+")
    assert state.observation(0).chances == 0
    with pytest.raises(IllegalActionError, match=r"may be (turned|drawn)"):
        state.read(SpeahxAnswer(id=1, chance=True))


def test_there_is_no_chance_while_a_drawn_card_fits() -> None:
    state = game_of(table_of("3D", "3S", "4S", reserve=[NUMBERS["8S"], NUMBERS["8H"]]))
    play(state, "+")
    assert state.observation(0).chances == 0


def test_table_cards_count_when_the_turns_run_out() -> None:
    table = table_of("9H 3D", "3S 3C", "4S", face_down=[[], [1, 2], [3, 4, 5]])
    state = game_of(table, table_cards=5, max_turns=1)
    play(state, "9H")
    assert state.places() == (1, 2, 2)
    assert state.returns() == (2.0, 0.5, 0.5)


def test_forfeiters_are_behind_those_whose_turns_ran_out() -> None:
    state = game_of(table_of("9H 3D 4D", "3S 3C", "4S", "5S"), max_turns=1)
    state.forfeit(3)
    play(state, "9H")
    assert state.places() == (2, 2, 1, 4)
    assert state.returns() == (1.5, 1.5, 3.0, 0.0)


def test_a_deal_in_progress_has_no_places() -> None:
    state = game_of(table_of("9H", "3S"))
    for ask in (state.places, state.returns):
        with pytest.raises(ValueError, match="not over"):
            ask()


def test_forfeits_do_not_move_the_deal() -> None:
    state = game_of(table_of("9H", "3S", "4S"))
    state.forfeit(0)
    assert state.next_start() == 0


FALLBACKS = [
    ("the pile is taken", "3S", {"pile": "7H"}, "-"),
    ("the drawn card must lead", "3S", {"pile": "", "drawn": ["KD"]}, "KD"),
    ("a drawn two calls its own suit", "3S", {"pile": "", "drawn": ["2D"]}, "2D>D"),
    ("the lowest of the plain cards", "2S JS TS AD QH 9C 9S", {"pile": ""}, "9S"),
    ("an ace before a jack", "2S JS TS AD", {"pile": ""}, "AD"),
    ("a jack before a ten", "2S JS TS", {"pile": ""}, "JS"),
    ("a ten before a two", "2S TS", {"pile": ""}, "TS"),
    ("a two before a joker", "2C JK", {"pile": ""}, "2C>C"),
    ("a joker", "JK", {"pile": ""}, "JK"),
    ("a table card", "", {"pile": "", "face_down": [["KD"], [], []]}, "+"),
]


@pytest.mark.parametrize(
    ("hand", "position", "code"),
    [row[1:] for row in FALLBACKS],
    ids=[row[0] for row in FALLBACKS],
)
def test_the_fallback_action(hand: str, position: dict[str, Any], code: str) -> None:
    given = dict(position)
    if "drawn" in given:
        given["drawn"] = [NUMBERS[card] for card in given["drawn"]]
    if "face_down" in given:
        given["face_down"] = [[NUMBERS[card] for card in cards] for cards in given["face_down"]]
    state = game_of(table_of(hand, "3S", "4S", **given), jokers=True)
    assert GAME.encode(state.fallback_action()) == code


def test_a_finished_deal_has_no_fallback() -> None:
    state = game_of(table_of("9H", "3S"))
    play(state, "9H")
    with pytest.raises(ValueError, match="over"):
        state.fallback_action()
