"""Tests of properties of every deal, with any options and players."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.games.base import TERMINAL, Scene
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.cards import NAMES, pack

if TYPE_CHECKING:
    from tourney_runner.games.speahx.state import SpeahxState

rules = st.fixed_dictionaries(
    {
        "players": st.integers(2, 14),
        "jokers": st.booleans(),
        "lead_chain": st.sampled_from(
            ["first_suit_or_rank", "same_rank", "previous_suit_or_rank", "single"]
        ),
        "follow_multi": st.sampled_from(["same_rank", "identical", "first_suit_or_rank", "single"]),
        "refill": st.sampled_from(["when_empty", "each_turn"]),
        "chance_max": st.integers(0, 4),
        "chance_scope": st.sampled_from(["turn", "game"]),
        "chance_commits": st.booleans(),
        "two_wild": st.booleans(),
        "ten_wild": st.booleans(),
        "jack_wild": st.booleans(),
        "quad_scope": st.sampled_from(["top_run", "single_play", "anywhere", "off"]),
        "table_cards": st.sampled_from([0, 5]),
        "max_turns": st.integers(1, 250),
    },
    optional={"preset": st.sampled_from([None, "letter", "author"])},
)
deals = st.tuples(rules, st.integers(0, 2**32))


def cards_of(state: SpeahxState) -> Counter[str]:
    return Counter(card for zone in state.scene().zones for card in zone.cards)


def choose(state: SpeahxState, rng: Random) -> Any:
    """Any legal action, long plays and good ones rather than bad ones, so that deals move on."""
    actions = state.legal_actions("canonical").actions
    plays = [action for action in actions if action.kind == "play"]
    if plays and rng.random() < 0.7:
        return max(plays, key=lambda action: (len(action.cards), rng.random()))
    return rng.choice(actions)


def answer(state: SpeahxState, action: Any) -> Any:
    return msgspec.convert({"id": 1, **state.write(action)}, GAME.answer)


def with_other_hidden_cards(state: SpeahxState, seat: int, rng: Random) -> SpeahxState:
    """The same position as far as one player may know it."""
    twin = deepcopy(state)
    table = twin._table
    zones = [table.reserve, *table.face_down]
    zones += [hand for owner, hand in enumerate(table.hands) if owner != seat]
    if seat != table.seat:
        zones.append(table.drawn)
    hidden = [card for zone in zones for card in zone]
    rng.shuffle(hidden)
    for zone in zones:
        zone[:] = [hidden.pop() for _ in zone]
    for hand in table.hands:
        hand.sort()
    return twin


@given(deals)
@settings(max_examples=60)
def test_no_card_is_lost_or_doubled(deal: Any) -> None:
    options, seed = GAME.options(**deal[0]), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, None)
    whole = Counter(NAMES[card] for card in pack(options.deck_count(), jokers=options.jokers))
    removed = 0
    assert cards_of(state) == whole
    while not state.is_terminal():
        if rng.random() < 0.01:
            removed += state.forfeit(state.current_player).removed
        else:
            removed += state.apply_action(choose(state, rng)).removed
        cards = cards_of(state)
        assert cards <= whole
        assert cards.total() + removed == whole.total()


@given(deals)
@settings(max_examples=40)
def test_nobody_is_told_of_a_card_that_he_may_not_know(deal: Any) -> None:
    options, seed = GAME.options(**deal[0]), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, None)
    while not state.is_terminal():
        mover = state.current_player
        for seat in (mover, rng.randrange(options.players)):
            twin = with_other_hidden_cards(state, seat, rng)
            assert twin.observation(seat) == state.observation(seat)
        twin = with_other_hidden_cards(state, mover, rng)
        action = choose(state, rng)
        assert twin.read(answer(twin, action)) == action
        # What all see tells of laid cards and of numbers: other hidden cards change nothing.
        assert twin.apply_action(action) == state.apply_action(action)


@given(deals)
@settings(max_examples=60)
def test_every_deal_ends_by_its_last_turn(deal: Any) -> None:
    options, seed = GAME.options(**deal[0]), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, None)
    turns = 0
    while not state.is_terminal():
        assert state.observation(0).turn == turns + 1
        turns += state.apply_action(choose(state, rng)).action != "chance"
    assert turns <= options.turn_cap()
    assert state.current_player == TERMINAL
    places = sorted(state.places())
    assert places == [1 + sum(other < place for other in places) for place in places]
    assert sum(state.returns()) == sum(options.points_by_place())


@given(deals)
@settings(max_examples=40)
def test_a_deal_is_rebuilt_from_its_seed_and_codes(deal: Any) -> None:
    options, seed = GAME.options(**deal[0]), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, 1)
    codes = []
    while not state.is_terminal():
        if rng.random() < 0.01:
            seat = rng.choice([seat for seat, here in enumerate(state._table.in_play) if here])
            state.forfeit(seat)
            codes.append(f"!{seat}")
        else:
            action = choose(state, rng)
            codes.append(GAME.encode(action))
            state.apply_action(action)
    again = GAME.new_state(options, seed, 1)
    for code in " ".join(codes).split():
        if code[0] == "!":
            again.forfeit(int(code[1:]))
        else:
            again.apply_action(GAME.decode(code))
    assert again.scene() == state.scene()
    assert (again.places(), again.returns()) == (state.places(), state.returns())
    assert again.observation(0) == state.observation(0)


@given(deals)
@settings(max_examples=40)
def test_whatever_is_listed_and_the_fallback_may_be_answered(deal: Any) -> None:
    options, seed = GAME.options(**{**deal[0], "max_turns": 40}), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, None)
    while not state.is_terminal():
        listed = {
            *state.legal_actions("canonical").actions,
            *rng.choices(state.legal_actions().actions, k=20),
            state.fallback_action(),
        }
        for action in listed:
            assert state.read(answer(state, action)) == action
            assert GAME.decode(GAME.encode(action)) == action
        state.apply_action(choose(state, rng))


@given(deals)
@settings(max_examples=20)
def test_a_deal_of_fallback_actions_ends(deal: Any) -> None:
    state = GAME.new_state(GAME.options(**deal[0]), deal[1], None)
    while not state.is_terminal():
        state.apply_action(state.fallback_action())


@given(deals)
@settings(max_examples=20)
def test_a_scene_has_all_seats_and_survives_json(deal: Any) -> None:
    options, seed = GAME.options(**deal[0]), deal[1]
    rng = Random(seed)
    state = GAME.new_state(options, seed, None)
    while not state.is_terminal():
        scene = state.scene()
        assert msgspec.json.decode(msgspec.json.encode(scene), type=Scene) == scene
        assert [view.seat for view in scene.seats] == list(range(options.players))
        assert scene.to_move == state.current_player
        assert all(zone.seat is None or zone.seat < options.players for zone in scene.zones)
        line = state.describe(state.apply_action(choose(state, rng)))
        assert line.startswith("seat ")
        assert "\n" not in line
