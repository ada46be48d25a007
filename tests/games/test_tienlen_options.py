"""The options of Tien Len: defaults, what is worked out, what is refused and in which words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tourney_runner.games.tienlen.options import TienlenOptions


def test_the_defaults_are_the_rules_of_the_source_texts() -> None:
    assert TienlenOptions().in_force() == {
        "players": 4,
        "decks": 1,
        "equal_rank_sets": "suit",
        "double_sequence_answer": "same_length",
        "bomb_hierarchy": "none",
        "quad_beats_pair_of_twos": False,
        "bombs_may_lead": True,
        "instant_wins": ["four_twos", "run_3_to_A"],
        "instant_win_others": "zero",
        "points": [3, 2, 1, 0],
    }


@pytest.mark.parametrize(("players", "points"), [(2, [3, 0]), (3, [3, 2, 0]), (4, [3, 2, 1, 0])])
def test_whoever_is_last_gets_no_points(players: int, points: list[int]) -> None:
    assert TienlenOptions(players=players).in_force()["points"] == points


@pytest.mark.parametrize(
    "rules",
    [
        {"players": 2, "decks": 1, "points": [1, -1]},
        {"decks": "auto", "points": [4.5, 2, 1, 0]},
        {"equal_rank_sets": "tie", "double_sequence_answer": "longer_wins"},
        {"bomb_hierarchy": "southern", "quad_beats_pair_of_twos": True, "bombs_may_lead": False},
        {"instant_wins": ["six_pairs", "five_pair_run", "three_triple_run"]},
        {"instant_wins": [], "instant_win_others": "play_on"},
    ],
)
def test_every_option_can_be_chosen(rules: dict[str, Any]) -> None:
    in_force = TienlenOptions.model_validate(rules).in_force()
    assert in_force.items() >= {**rules, "decks": 1}.items()


@pytest.mark.parametrize(
    ("rules", "key", "message"),
    [
        ({"players": 5}, ("players",), "Tien Len is for 2, 3 or 4 players, not 5"),
        ({"players": 1}, ("players",), "not 1"),
        ({"players": True}, ("players",), "valid integer"),
        ({"players": "four"}, ("players",), "valid integer"),
        ({"decks": 2}, ("decks",), "should be 'auto' or 1"),
        ({"points": [3, 2, 1]}, ("points",), "has 3 numbers, but there are 4 places"),
        ({"players": 2, "points": [3, 2, 1, 0]}, ("points",), "4 numbers, but there are 2"),
        ({"points": [3, 2, 1, "x"]}, ("points", 3), "a number such as 3"),
        ({"points": [float("nan"), 2, 1, 0]}, ("points", 0), "a number such as 3"),
        ({"points": [10**400, 2, 1, 0]}, ("points", 0), "at most 1000000"),
        ({"instant_wins": ["dragon"]}, ("instant_wins", 0), "'four_twos', 'run_3_to_A'"),
        ({"instant_wins": ["six_pairs"] * 2}, ("instant_wins",), "six_pairs is named twice"),
        ({"bombs_may_lead": "no"}, ("bombs_may_lead",), "valid boolean"),
        ({"equal_rank_sets": "rank"}, ("equal_rank_sets",), "'suit' or 'tie'"),
        ({"jokers": True}, ("jokers",), "Extra inputs are not permitted"),
    ],
)
def test_refusals_say_what_is_wrong_and_what_was_expected(
    rules: dict[str, Any], key: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        TienlenOptions.model_validate(rules)
    errors = refusal.value.errors()
    assert any(message in error["msg"] for error in errors), errors
    assert any(error["loc"][: len(key)] == key for error in errors), errors
