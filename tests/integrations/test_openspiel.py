"""Games of OpenSpiel; needs the extra `openspiel`: `tox -e openspiel`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pyspiel = pytest.importorskip("pyspiel")

from tourney_runner.gamekit.conformance import CHECKS  # noqa: E402
from tourney_runner.integrations.openspiel import OpenSpielAnswer, make  # noqa: E402

if TYPE_CHECKING:
    from tourney_runner.gamekit.conformance import Check

GAMES = ["tic_tac_toe", "kuhn_poker", "leduc_poker", "goofspiel", "crazy_eights", "hearts",
         "backgammon", "liars_dice", "matrix_pd", "connect_four"]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", GAMES)
def test_games_keep_the_contract(name: str, check: Check) -> None:
    game = make(name)
    check.run(game, game.options.model_validate({}), 3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_game", "no game of that name"),
        ("blackjack", "for one player"),
        ("mfg_crowd_modelling", "one player|mean-field"),
        ("repeated_game", "made of another game"),
        ("tiny_hanabi", "get the same"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make(name)


def test_an_illegal_number_is_refused_everywhere() -> None:
    game = make("tic_tac_toe")
    state = game.new_state(game.options(), 1, None)
    state.apply_action(4)
    with pytest.raises(Exception, match="not one of the legal actions"):
        state.read(OpenSpielAnswer(id=1, action=4))
    with pytest.raises(ValueError, match="not a legal action"):
        state.apply_action(4)


def test_an_event_shows_no_action_that_may_be_hidden() -> None:
    open_game, hidden = make("tic_tac_toe"), make("goofspiel")
    event = open_game.new_state(open_game.options(), 1, None).apply_action(4)
    assert (event.action, event.text) == (4, "x(1,1)")
    event = hidden.new_state(hidden.options(), 1, None).apply_action(4)
    assert (event.action, event.text) == (None, None)


def test_parameters_are_options_and_the_version_is_in_the_rules() -> None:
    options = make("kuhn_poker").options
    in_force = options.model_validate({"players": 3}).in_force()
    assert in_force["players"] == 3
    assert in_force["open_spiel"]
    with pytest.raises(ValueError, match="less than or equal to 10"):
        options.model_validate({"players": 11})
