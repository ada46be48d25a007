"""Deals of Tien Len from the first card to the last, most with stacked hands."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tourney_runner.games.base import TERMINAL, IllegalActionError, shuffled
from tourney_runner.games.tienlen import GAME
from tourney_runner.games.tienlen.cards import CARDS, PACK, InstantWin, cards_in, mask_from
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.state import Position, TienlenState
from tourney_runner.games.tienlen.views import TienlenEvent

FOUR_TWOS = "2S 2C 2D 2H 5S 5C 6S 6C 8D 8H TS TC JS"
RUN = "3D 4D 5D 6D 7D 8S 9D TD JD QD KD AD 3H"
PLAIN = "3S 4S 7S 7C 9S 9C JC QS QC KS KC AS AC"
LOWER_PLAIN = "3C 4C 4H 5H 6H 7H 8C 9H TH JH QH KH AH"

seeds = st.integers(0, 2**63)


def dealt(*hands: str, start: int | None = None, **rules: Any) -> TienlenState:
    options = TienlenOptions.model_validate({"players": len(hands), **rules})
    return TienlenState.dealt(options, [mask_from(hand.split()) for hand in hands], start)


def play(state: TienlenState, *moves: str) -> list[TienlenEvent]:
    """Cards, ``-`` for a pass, ``!2`` for a forfeit of seat 2; read as from a bot."""
    events = []
    for move in moves:
        if move.startswith("!"):
            events.append(state.forfeit(int(move[1:])))
        else:
            fields = {"pass_": True} if move == "-" else {"play": tuple(move.split())}
            events.append(state.apply_action(state.read(GAME.answer(id=1, **fields))))
    return events


def play_on_at_random(state: TienlenState, seed: int) -> int:
    """Play to the end; gives the number of actions."""
    random = Random(seed)
    count = 0
    while not state.is_terminal():
        state.apply_action(random.choice(state.legal_actions().actions))
        count += 1
    return count


def lowest_card(state: TienlenState) -> str:
    held = [card for seat in range(state.players) for card in state.hand(seat)]
    return min(held, key=CARDS.index)


@pytest.mark.parametrize("players", [2, 3, 4])
@given(seed=seeds)
def test_everybody_is_dealt_13_cards_and_the_lowest_card_opens(players: int, seed: int) -> None:
    options = TienlenOptions(players=players, instant_wins=())
    state = GAME.new_state(options, seed, None)
    hands = [state.hand(seat) for seat in range(players)]
    assert [len({*hand}) for hand in hands] == [13] * players
    assert len({card for hand in hands for card in hand}) == 13 * players
    opener = state.current_player
    lowest = lowest_card(state)
    assert lowest in hands[opener]
    assert [state.observation(seat).must_play for seat in range(players)] == [
        lowest if seat == opener else None for seat in range(players)
    ]


@given(seed=seeds, start=st.integers(0, 3))
def test_in_later_deals_the_previous_winner_leads_what_he_likes(seed: int, start: int) -> None:
    state = GAME.new_state(TienlenOptions(instant_wins=()), seed, start)
    assert state.current_player == start
    assert state.opening() == f"seat {start} leads"
    assert state.observation(start).must_play is None
    assert state.read(GAME.answer(id=1, play=(state.hand(start)[-1],)))


def test_a_first_deal_leaves_the_lead_to_the_cards() -> None:
    for duplicate in (True, False):
        assert GAME.first_start(TienlenOptions(), lambda: 1, duplicate=duplicate) is None


@given(seed=seeds)
def test_cards_are_dealt_one_at_a_time_from_seat_0(seed: int) -> None:
    state = GAME.new_state(TienlenOptions(players=3), seed, None)
    pack = shuffled([*CARDS], seed)
    for seat in range(3):
        assert state.hand(seat) == sorted(pack[seat:39:3], key=CARDS.index)


def test_the_same_seed_deals_the_same_cards_for_ever() -> None:
    state = GAME.new_state(TienlenOptions(), 20261129, None)
    assert " ".join(state.hand(0)) == "3H 5S 5H 6H 7C 8C 9H TC QH KS AS AC AH"


@given(seed=seeds)
def test_no_deal_takes_more_than_208_actions(seed: int) -> None:
    assert play_on_at_random(GAME.new_state(TienlenOptions(), seed, None), seed) <= 208


def test_a_whole_deal() -> None:
    state = dealt("3S 7D AH", "4C 8C KD", "5D 9H", "6S")
    assert play(state, "3S", "4C", "5D", "6S", "-", "8C", "9H", "-", "7D", "KD") == [
        TienlenEvent(seat=0, play=("3S",), next=1),
        TienlenEvent(seat=1, play=("4C",), next=2),
        TienlenEvent(seat=2, play=("5D",), next=3),
        TienlenEvent(seat=3, play=("6S",), out=1, next=0),
        TienlenEvent(seat=0, pass_=True, next=1),
        TienlenEvent(seat=1, play=("8C",), next=2),
        TienlenEvent(seat=2, play=("9H",), out=2, next=1),
        # Seat 2 is out, seat 3 too: the lead comes to seat 0, who had passed (T29).
        TienlenEvent(seat=1, pass_=True, cleared=True, next=0),
        TienlenEvent(seat=0, play=("7D",), next=1),
        TienlenEvent(seat=1, play=("KD",), out=3),
    ]
    assert state.current_player == TERMINAL
    assert state.places() == (4, 3, 2, 1)
    assert state.returns() == (0, 1, 2, 3)
    assert state.next_start() == 3


def test_who_has_passed_sits_out_until_the_table_is_cleared() -> None:
    state = dealt("3S 7D AH", "4C 8C KD", "5D 9H QS", "6S JD KS")
    play(state, "3S", "-", "5D", "6S", "7D", "9H")
    assert state.observation(0).passed == (1,)
    play(state, "-", "-")
    assert state.observation(0).passed == ()
    assert state.observation(0).table is None
    assert state.current_player == 2
    play(state, "QS", "KS", "-", "KD")


def test_results_are_not_to_be_had_before_the_end() -> None:
    state = dealt("3S 7D", "4C 8C")
    for result in (state.places, state.returns, state.next_start):
        with pytest.raises(ValueError, match="not over"):
            result()


@pytest.mark.parametrize("start", [None, 3])
def test_four_twos_end_the_deal_before_anybody_plays(start: int | None) -> None:
    state = dealt(PLAIN, FOUR_TWOS, RUN, LOWER_PLAIN, start=start)
    assert state.is_terminal()
    assert state.instant_win == InstantWin(1, "four_twos")
    assert state.observation(0).instant_win == InstantWin(1, "four_twos")
    assert state.opening() == "seat 1 wins at once: four twos"
    assert state.places() == (2, 1, 2, 2)
    assert state.returns() == (0, 3, 0, 0)
    assert state.next_start() == 1
    assert not state.legal_actions().actions
    assert [seat.place for seat in state.scene().seats] == [2, 1, 2, 2]
    with pytest.raises(ValueError, match="seat 0"):
        state.forfeit(0)


def test_instant_wins_can_be_played_without() -> None:
    state = dealt(PLAIN, FOUR_TWOS, RUN, LOWER_PLAIN, instant_wins=[])
    assert state.instant_win is None
    assert state.current_player == 0


def test_when_the_others_play_on_the_lowest_card_still_held_opens() -> None:
    state = dealt(RUN, FOUR_TWOS, LOWER_PLAIN, instant_win_others="play_on")
    assert state.instant_win == InstantWin(1, "four_twos")
    assert state.current_player == 2
    assert state.observation(2).must_play == "3C"
    assert state.observation(2).out == (1,)
    assert state.observation(2).hand_sizes == (13, 0, 13)
    assert state.hand(1) == []
    play_on_at_random(state, 1)
    assert state.places()[1] == 1
    assert sorted(state.returns()) == [0, 2, 3]
    assert state.next_start() == 1


def test_when_the_lowest_card_has_left_with_the_winner_the_next_one_opens() -> None:
    twos_and_the_lowest = "2S 2C 2D 2H 3S 5C 6S 6C 8D 8H TS TC JS"
    state = dealt(RUN, twos_and_the_lowest, LOWER_PLAIN, instant_win_others="play_on")
    assert state.current_player == 2
    assert state.observation(2).must_play == "3C"


@pytest.mark.parametrize(("start", "leader"), [(0, 0), (1, 2), (2, 2)])
def test_when_the_others_play_on_later_the_previous_winner_or_the_next_leads(
    start: int, leader: int
) -> None:
    state = dealt(RUN, FOUR_TWOS, LOWER_PLAIN, start=start, instant_win_others="play_on")
    assert state.current_player == leader
    assert state.observation(leader).must_play is None


def test_with_two_players_there_is_nobody_to_play_on_with() -> None:
    state = dealt(FOUR_TWOS, PLAIN, instant_win_others="play_on")
    assert state.is_terminal()
    assert state.places() == (1, 2)
    assert state.returns() == (3, 0)


def test_a_forfeit_after_an_instant_win_is_last() -> None:
    state = dealt(PLAIN, FOUR_TWOS, RUN, LOWER_PLAIN, instant_win_others="play_on")
    play(state, "!2")
    with pytest.raises(ValueError, match="seat 1"):
        state.forfeit(1)
    play_on_at_random(state, 2)
    assert state.places()[1] == 1
    assert state.places()[2] == 4


def test_the_lead_and_the_forced_card_pass_on_when_the_opener_forfeits() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H", "6S JD")
    assert play(state, "!0") == [TienlenEvent(seat=0, forfeit=True, next=2)]
    assert state.observation(2).must_play == "4D"
    with pytest.raises(IllegalActionError, match="H10"):
        play(state, "9H")
    assert play(state, "!2") == [TienlenEvent(seat=2, forfeit=True, next=1)]
    assert state.observation(1).must_play == "5C"


def test_the_opener_stays_when_another_forfeits() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H", "6S JD")
    assert play(state, "!2") == [TienlenEvent(seat=2, forfeit=True, next=0)]
    assert state.observation(0).must_play == "3S"


def test_later_nothing_is_forced_when_the_leader_forfeits() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H", "6S JD", start=3)
    assert play(state, "!3") == [TienlenEvent(seat=3, forfeit=True, next=0)]
    assert state.observation(0).must_play is None


def test_the_combination_of_a_forfeiter_stands_and_the_lead_goes_on_from_him() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H", "6S JD")
    assert play(state, "3S", "5C", "!1", "-", "-", "-") == [
        TienlenEvent(seat=0, play=("3S",), next=1),
        TienlenEvent(seat=1, play=("5C",), next=2),
        TienlenEvent(seat=1, forfeit=True, next=2),
        TienlenEvent(seat=2, pass_=True, next=3),
        TienlenEvent(seat=3, pass_=True, next=0),
        TienlenEvent(seat=0, pass_=True, cleared=True, next=2),
    ]


def test_a_forfeiter_counts_as_out_for_the_end_of_the_trick() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H", "6S JD")
    events = play(state, "3S", "5C", "-", "-", "!0")
    assert events[-1] == TienlenEvent(seat=0, forfeit=True, cleared=True, next=1)


def test_one_player_left_takes_the_next_place() -> None:
    state = dealt("3S", "5C 8C", "4D 9H", "6S JD")
    events = play(state, "3S", "!3", "!1")
    assert events[0].out == 1
    assert events[-1] == TienlenEvent(seat=1, forfeit=True)
    assert state.places() == (1, 3, 2, 4)
    assert state.returns() == (3, 0, 2, 0)


def test_forfeiters_have_no_points_even_where_the_last_place_has_some() -> None:
    state = dealt("3S 7D", "5C 8C", points=[5, 2])
    play(state, "!0")
    assert state.places() == (2, 1)
    assert state.returns() == (0, 5)
    assert state.next_start() == 1


def test_a_forfeiters_cards_leave_face_down() -> None:
    state = dealt("3S 7D", "5C 8C", "4D 9H")
    event = play(state, "!1")[0]
    assert event.play is None
    assert state.hand(1) == []
    assert state.observation(0).hand_sizes == (2, 0, 2)
    assert state.observation(0).forfeited == (1,)
    (gone,) = [zone for zone in state.scene().zones if zone.name == "gone"]
    assert gone.cards == ("5C", "8C")
    assert gone.shown_to == "nobody"


def test_a_forfeit_of_an_empty_seat_is_an_error() -> None:
    state = dealt("3S", "5C 8C", "4D 9H")
    play(state, "3S")
    with pytest.raises(ValueError, match="seat 0"):
        state.forfeit(0)


@given(seed=seeds)
def test_all_52_cards_stay_in_the_picture(seed: int) -> None:
    state = GAME.new_state(TienlenOptions(players=3), seed, None)
    random = Random(seed)
    while not state.is_terminal():
        shown = [card for zone in state.scene().zones for card in zone.cards]
        assert sorted(shown) == sorted(CARDS)
        if random.random() < 0.02:
            state.forfeit(state.current_player)
        else:
            state.apply_action(random.choice(state.legal_actions().actions))


@given(seed=seeds, data=st.data())
def test_what_a_player_sees_does_not_depend_on_cards_that_he_does_not_see(
    seed: int, data: st.DataObject
) -> None:
    """Other hands of the same sizes give the same view, in the middle of any deal."""
    options = TienlenOptions(players=3, instant_wins=())
    own = data.draw(st.sets(st.sampled_from(CARDS), min_size=1, max_size=12))
    hidden = [card for card in CARDS if card not in own]

    def view(order: int) -> object:
        table, *others = hidden
        Random(order).shuffle(others)
        hands = [mask_from(cards) for cards in (own, others[:8], others[8:13])]
        position = Position(hands=hands, turn=1, table=mask_from([table]), owner=2)
        return TienlenState(options, position).observation(0)

    assert view(seed) == view(seed + 1)


@pytest.mark.parametrize(
    ("position", "fallback"),
    [
        (Position(hands=[mask_from(["7D", "9H"]), 2, 4, 8], turn=0), "7D"),
        (Position(hands=[mask_from(["7D", "9H"]), 2, 4, 8], turn=0, must=mask_from(["7D"])), "7D"),
        (Position(hands=[mask_from(["7D", "9H"]), 2, 4, 8], turn=0, table=1, owner=3), ""),
    ],
    ids=["leading", "opening", "following"],
)
def test_the_fallback_passes_or_lays_the_lowest_card(position: Position, fallback: str) -> None:
    state = TienlenState(TienlenOptions(), position)
    assert " ".join(cards_in(state.fallback_action())) == fallback


def test_a_table_that_is_no_combination_is_no_position() -> None:
    with pytest.raises(ValueError, match="3S 4C is not a combination"):
        TienlenState(
            TienlenOptions(players=2),
            Position(hands=[1 << 20, 1 << 30], turn=0, table=mask_from(["3S", "4C"])),
        )


@given(play=st.integers(1, PACK))
def test_a_mask_names_its_cards_and_back(play: int) -> None:
    assert mask_from(cards_in(play)) == play
