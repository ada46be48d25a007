"""Options, presets, setting up and dealing."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError
from tourney_runner.games.speahx import GAME
from tourney_runner.play.seeds import match_seed

DEFAULTS = {
    "players": 4,
    "decks": 1,
    "jokers": False,
    "lead_chain": "first_suit_or_rank",
    "follow_multi": "same_rank",
    "refill": "when_empty",
    "chance_max": 3,
    "chance_scope": "turn",
    "chance_commits": True,
    "two_wild": False,
    "ten_wild": False,
    "jack_wild": True,
    "quad_scope": "top_run",
    "table_cards": 0,
    "max_turns": 1000,
    "points": [3.0, 2.0, 1.0, 0.0],
}


def test_the_defaults_in_force_leave_nothing_open() -> None:
    rules = GAME.options().in_force()
    assert rules == DEFAULTS
    assert json.loads(json.dumps(rules)) == rules


@pytest.mark.parametrize("preset", [None, "letter", "author"])
def test_the_rules_in_force_mean_the_same_when_given_as_options(preset: Any) -> None:
    rules = GAME.options(preset=preset, players=5).in_force()
    assert GAME.options(**rules).in_force() == rules


@pytest.mark.parametrize(
    ("preset", "changed"),
    [
        ("letter", {"follow_multi": "identical", "chance_scope": "game"}),
        ("author", {"lead_chain": "same_rank", "refill": "each_turn", "table_cards": 5}),
    ],
)
def test_a_preset_changes_the_defaults(preset: Any, changed: dict[str, Any]) -> None:
    assert GAME.options(preset=preset).in_force() == {**DEFAULTS, **changed}


def test_an_option_that_is_given_stands_against_the_preset() -> None:
    rules = GAME.options(preset="author", table_cards=0, refill="when_empty").in_force()
    assert rules == {**DEFAULTS, "lead_chain": "same_rank"}


@pytest.mark.parametrize(("players", "decks"), [(2, 1), (4, 1), (5, 2), (9, 2), (10, 3), (14, 3)])
@pytest.mark.parametrize("table_cards", [0, 5])
@pytest.mark.parametrize("jokers", [False, True])
def test_every_number_of_players_is_dealt_five_cards(
    players: int, decks: int, table_cards: Any, *, jokers: bool
) -> None:
    options = GAME.options(players=players, table_cards=table_cards, jokers=jokers)
    state = GAME.new_state(options, seed=7, start=None)
    cards = Counter(card for zone in state.scene().zones for card in zone.cards)
    assert options.in_force()["decks"] == decks
    assert set(cards.values()) == ({decks} if not jokers else {decks, 2 * decks})
    assert len(cards) == (53 if jokers else 52)
    view = state.observation(0)
    assert view.hand_sizes == (5,) * players
    assert view.table_sizes == ((5,) * players if table_cards else ())


def test_decks_may_be_chosen() -> None:
    view = GAME.new_state(GAME.options(players=2, decks=3), 0, None).observation(0)
    assert view.reserve == 3 * 52 - 10


@pytest.mark.parametrize(
    ("wrong", "where", "words"),
    [
        ({"players": 1}, "players", "greater than or equal to 2"),
        ({"players": 15}, "players", "less than or equal to 14"),
        ({"players": True}, "players", "integer"),
        ({"players": "4"}, "players", "integer"),
        ({"decks": 4}, "decks", "'auto', 1, 2 or 3"),
        ({"decks": True}, "decks", "expected a number, found true"),
        ({"players": 11, "decks": 1}, "decks",
         "1 of 52 cards cannot deal 5 cards to each of 11 players; expected auto or at least 2"),
        ({"players": 6, "decks": 1, "table_cards": 5}, "decks",
         "1 of 52 cards cannot deal 10 cards to each of 6 players; expected auto or at least 2"),
        ({"players": 6, "decks": 1, "preset": "author"}, "decks", "10 cards to each of 6"),
        ({"jokers": "yes"}, "jokers", "boolean"),
        ({"table_cards": 3}, "table_cards", "0 or 5"),
        ({"chance_max": -1}, "chance_max", "greater than or equal to 0"),
        ({"max_turns": 0}, "max_turns", "greater than or equal to 1"),
        ({"preset": "pagat"}, "preset", "'letter' or 'author'"),
        ({"points": "lineal"}, "points", "expected linear, winner, or a list of numbers"),
        ({"points": [3, 2, 1]}, "points", "3 numbers for 4 players"),
        ({"points": [3, 2, 1, float("nan")]}, "points", "expected linear, winner, or a list"),
        ({"points": [3, 2, 1, True]}, "points", "expected linear, winner, or a list"),
        ({"refil": "each_turn"}, "refil", "not permitted"),
    ],
)  # fmt: skip
def test_wrong_options_say_what_was_expected(wrong: dict[str, Any], where: str, words: str) -> None:
    with pytest.raises(ValidationError) as error:
        GAME.options(**wrong)
    (problem,) = error.value.errors()
    assert problem["loc"][0] == where
    assert words in problem["msg"]


def test_all_wrong_options_are_reported_at_once() -> None:
    with pytest.raises(ValidationError) as error:
        GAME.options(players=99, decks=9, points=[1], jokers=2)
    assert {problem["loc"][0] for problem in error.value.errors()} >= {"players", "decks", "jokers"}


def test_a_deal_as_large_as_the_pack_is_allowed() -> None:
    state = GAME.new_state(GAME.options(players=5, decks=1, table_cards=5), 0, None)
    assert state.observation(0).reserve == 2


def test_every_option_is_described() -> None:
    for name, field in GAME.options.model_fields.items():
        assert field.description, name


def test_the_same_seed_deals_the_same_cards() -> None:
    def cards(seed: int) -> list[list[str]]:
        state = GAME.new_state(GAME.options(), seed, 0)
        return [state.hand(seat) for seat in range(4)]

    assert cards(3) == cards(3)
    assert cards(3) != cards(4)


@pytest.mark.parametrize(("dealer", "first", "following"), [(0, 1, 1), (3, 0, 0)])
def test_left_of_the_dealer_begins_and_deals_next(dealer: int, first: int, following: int) -> None:
    state = GAME.new_state(GAME.options(), 0, dealer)
    assert state.current_player == first
    assert state.next_start() == following


def test_in_duplicate_deals_seat_0_begins() -> None:
    options = GAME.options(players=7)
    start = GAME.first_start(options, lambda: 1, duplicate=True)
    assert GAME.new_state(options, 0, start).current_player == 0


def test_the_first_dealer_is_decided_by_lot() -> None:
    options = GAME.options(players=3)
    dealers = {
        GAME.first_start(options, partial(match_seed, "seed", 0, match), duplicate=False)
        for match in range(50)
    }
    assert dealers == {0, 1, 2}
