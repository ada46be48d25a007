"""Tests of properties of every registered game."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tourney_runner.games.base import TERMINAL, Game, State
from tourney_runner.games.registry import game, names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tourney_runner.games.base import Scene, Zone

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "tienlen": [
        {},
        {"players": 2},
        {"players": 3, "points": [5, 2, 0]},
        {"bomb_hierarchy": "southern", "equal_rank_sets": "tie", "bombs_may_lead": False},
        {
            "instant_win_others": "play_on",
            "instant_wins": ["six_pairs", "four_twos", "run_3_to_A", "five_pair_run"],
        },
    ],
    "speahx": [
        {},
        {"players": 2, "table_cards": 5},
        {"players": 6, "jokers": True},
        {"preset": "letter", "players": 3},
        {"preset": "author"},
        {"players": 3, "chance_commits": False, "max_turns": 40},
    ],
}
"""Rules to try a game with; a game that is not named here is tried with its defaults."""

RULES = [
    pytest.param(name, rules, id=f"{name}-{number}")
    for name in names()
    for number, rules in enumerate(VARIANTS.get(name, [{}]))
]
CARD = re.compile(r"([2-9TJQKA][SCDH]|JK)(>[SCDH])?")
LONGEST_DEAL = 10_000
seeds = st.integers(0, 2**63)

every_game = pytest.mark.parametrize(("name", "rules"), RULES)
few_deals = settings(max_examples=3)


def deal(name: str, rules: dict[str, Any], seed: int, start: int | None = None) -> State[Any]:
    entry = game(name)
    return entry.new_state(entry.options.model_validate(rules), seed, start)


def pick(state: State[Any], random: Random) -> Any:
    """A random action; mostly from the short list, since a long one takes long to make."""
    mode = "all" if random.random() < 0.2 else "canonical"
    return random.choice(state.legal_actions(mode).actions)


def play_out(state: State[Any], random: Random, forfeits: float = 0.0) -> Iterator[msgspec.Struct]:
    """Play at random to the end, giving each event; now and then somebody forfeits."""
    for _ in range(LONGEST_DEAL):
        if state.is_terminal():
            return
        still_in = [
            seat.seat for seat in state.scene().seats if seat.state in {"playing", "passed"}
        ]
        if random.random() < forfeits:
            yield state.forfeit(random.choice(still_in))
        else:
            yield state.apply_action(pick(state, random))
    pytest.fail(f"no end after {LONGEST_DEAL} actions")


def as_answer(entry: Game[Any, Any], written: dict[str, Any]) -> Any:
    """An answer as it comes from a bot."""
    return msgspec.json.decode(msgspec.json.encode({"id": 1, **written}), type=entry.answer)


def cards_in(value: Any) -> set[str]:
    """All cards named anywhere in a message."""
    match value:
        case str():
            found = CARD.fullmatch(value)
            return {found[1]} if found else set()
        case dict():
            return set().union(*map(cards_in, value.values()))
        case list() | tuple():
            return set().union(*map(cards_in, value))
        case msgspec.Struct():
            return cards_in(msgspec.to_builtins(value))
        case _:
            return set()


def counted(zones: Iterable[Zone]) -> Counter[str]:
    """Cards may come more than once, so they are counted; a suit that was called is left off."""
    return Counter(card[:2] for zone in zones for card in zone.cards)


def hidden_cards(scene: Scene) -> Counter[str]:
    return counted([zone for zone in scene.zones if zone.shown_to != "all"])


def visible_cards(scene: Scene, seat: int) -> set[str]:
    """Return the cards that a player sees on the table and in the own hand."""
    seen = [
        zone
        for zone in scene.zones
        if zone.shown_to == "all" or (zone.shown_to == "owner" and zone.seat == seat)
    ]
    return {*counted(seen)}


@every_game
@few_deals
@given(seed=seeds)
def test_a_deal_ends_with_a_place_and_points_for_everybody(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    state = deal(name, rules, seed)
    for _ in play_out(state, Random(seed)):
        pass
    places = state.places()
    assert len(places) == len(state.returns()) == state.players
    for place in places:  # tied players share the best place of their group
        assert place == 1 + sum(other < place for other in places)
    assert not state.legal_actions().actions


@every_game
@few_deals
@given(seed=seeds)
def test_the_next_deal_begins_as_the_last_one_says(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    state = deal(name, rules, seed)
    for _ in play_out(state, Random(seed)):
        pass
    following = deal(name, rules, seed + 1, state.next_start())
    assert following.is_terminal() or 0 <= following.current_player < following.players


@every_game
@few_deals
@given(seed=seeds)
def test_no_card_is_made_or_doubled(name: str, rules: dict[str, Any], seed: int) -> None:
    state = deal(name, rules, seed)
    before = counted(state.scene().zones)
    for _ in play_out(state, Random(seed), forfeits=0.01):
        after = counted(state.scene().zones)
        assert after <= before
        before = after


@every_game
@few_deals
@given(seed=seeds)
def test_the_listed_plays_and_the_checker_agree(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    random = Random(seed)
    entry = game(name)
    state = deal(name, rules, seed)
    while not state.is_terminal():
        if random.random() < 0.2:
            listed = state.legal_actions().actions
            canonical = state.legal_actions("canonical")
            assert canonical.complete or canonical.left_out
            assert len({*listed}) == len(listed) > 0
            actions = [*listed, *canonical.actions]
            for action in random.sample(actions, min(30, len(actions))):
                assert state.read(as_answer(entry, state.write(action))) == action
        state.apply_action(pick(state, random))


@every_game
@few_deals
@given(seed=seeds)
def test_the_fallback_is_always_legal_and_comes_to_an_end(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    """Check it with one player who plays, since players who only take need not come to an end."""
    random = Random(seed)
    entry = game(name)
    state = deal(name, rules, seed)
    for _ in range(LONGEST_DEAL):
        if state.is_terminal():
            return
        fallback = state.fallback_action()
        assert state.read(as_answer(entry, state.write(fallback))) == fallback
        state.apply_action(pick(state, random) if state.current_player == 0 else fallback)
    pytest.fail(f"no end after {LONGEST_DEAL} actions")


@every_game
@few_deals
@given(seed=seeds)
def test_nobody_is_shown_a_card_that_he_may_not_know(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    state = deal(name, rules, seed)
    scene = state.scene()
    seats = range(state.players)
    known = [visible_cards(scene, seat) for seat in seats]
    for event in play_out(state, Random(seed), forfeits=0.01):
        before, scene = scene, state.scene()
        laid = {*(hidden_cards(before) - hidden_cards(scene))}
        shown = cards_in(event)
        for seat in seats:
            assert shown <= known[seat] | laid | visible_cards(scene, seat)
            known[seat] |= shown | visible_cards(scene, seat)
            assert cards_in(state.observation(seat)) <= known[seat]


@every_game
@few_deals
@given(seed=seeds)
def test_a_deal_is_rebuilt_from_its_seed_and_codes(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    random = Random(seed)
    entry = game(name)
    state, again = deal(name, rules, seed), deal(name, rules, seed)
    while not state.is_terminal():
        action = pick(state, random)
        code = entry.encode(action)
        assert code
        assert not re.search(r"^[!?]|\s", code)
        assert entry.decode(code) == action
        assert state.apply_action(action) == again.apply_action(entry.decode(code))
        assert state.scene() == again.scene()
    assert again.places() == state.places()


@every_game
@few_deals
@given(seed=seeds)
def test_forfeiters_come_last_the_earlier_the_lower_and_without_points(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    state = deal(name, rules, seed)
    forfeited: list[int] = []
    for event in play_out(state, Random(seed), forfeits=0.1):
        if msgspec.to_builtins(event).get("forfeit"):
            forfeited.append(event.seat)  # type: ignore[attr-defined]
            with pytest.raises(ValueError, match=str(event.seat)):
                state.forfeit(event.seat)
    places, points = state.places(), state.returns()
    assert [places[seat] for seat in forfeited] == [
        state.players - earlier for earlier in range(len(forfeited))
    ]
    assert not any(points[seat] for seat in forfeited)


@every_game
@few_deals
@given(seed=seeds)
def test_nobody_forfeits_when_the_deal_is_over(name: str, rules: dict[str, Any], seed: int) -> None:
    state = deal(name, rules, seed)
    for _ in play_out(state, Random(seed)):
        pass
    for seat in range(state.players):
        with pytest.raises(ValueError, match=str(seat)):
            state.forfeit(seat)


@every_game
@few_deals
@given(seed=seeds)
def test_scenes_show_the_position(name: str, rules: dict[str, Any], seed: int) -> None:
    state = deal(name, rules, seed)
    for event in play_out(state, Random(seed), forfeits=0.02):
        scene = state.scene()
        assert state.describe(event)
        assert [view.seat for view in scene.seats] == [*range(state.players)]
        turn = state.current_player
        assert scene.to_move == (None if turn == TERMINAL else turn)
        for zone in scene.zones:
            assert zone.seat is None or zone.seat in range(state.players)
            assert all(CARD.fullmatch(card) for card in zone.cards)
        for seat in range(state.players):
            own = [zone for zone in scene.zones if zone.shown_to == "owner" and zone.seat == seat]
            assert Counter(state.hand(seat)) <= counted(own)


@every_game
@few_deals
@given(seed=seeds)
def test_messages_come_back_from_json_as_they_were(
    name: str, rules: dict[str, Any], seed: int
) -> None:
    entry = game(name)
    state = deal(name, rules, seed)
    for event in play_out(state, Random(seed), forfeits=0.02):
        assert msgspec.json.decode(msgspec.json.encode(event), type=entry.event) == event
        for seat in range(state.players):
            view = state.observation(seat)
            assert msgspec.json.decode(msgspec.json.encode(view), type=entry.observation) == view


@every_game
def test_the_rules_in_force_are_complete_rules(name: str, rules: dict[str, Any]) -> None:
    options = game(name).options
    in_force = options.model_validate(rules).in_force()
    assert None not in in_force.values()
    assert "auto" not in in_force.values()
    assert options.model_validate(in_force).in_force() == in_force


@every_game
def test_every_rule_has_a_default_and_a_description(name: str, rules: dict[str, Any]) -> None:
    del rules
    options = game(name).options
    options()
    for field in options.model_fields.values():
        assert field.description


@every_game
@few_deals
@given(seed=seeds)
def test_a_copy_goes_its_own_way(name: str, rules: dict[str, Any], seed: int) -> None:
    random = Random(seed)
    state = deal(name, rules, seed)
    for _ in range(random.randrange(30)):
        if not state.is_terminal():
            state.apply_action(pick(state, random))
    before = [state.observation(seat) for seat in range(state.players)], state.scene()
    copies = [state.clone(), pickle.loads(pickle.dumps(state))]  # noqa: S301 - our own
    ends = [copy.play_out(Random(seed)) for copy in copies]
    assert ([state.observation(seat) for seat in range(state.players)], state.scene()) == before
    ends.append(state.play_out(Random(seed)))
    assert len({(end.places(), end.returns(), end.next_start()) for end in ends}) == 1
