"""A game whose own code is wrong: the error names it, and no bot is blamed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from real_table import settings
from tourney_runner.errors import RunError
from tourney_runner.games.tienlen.game import Tienlen
from tourney_runner.games.tienlen.state import TienlenState
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.in_process_players import HousePlayer, seated
from tourney_runner.play.match import player_setup
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.results.records import DealKey


class TooManyReturns(TienlenState):
    __slots__ = ()

    def returns(self) -> tuple[float, ...]:
        return (*super().returns(), 0.0)


class FailingMove(TienlenState):
    __slots__ = ()

    def apply_action(self, action: int) -> Any:
        raise KeyError(action)


class Wrong(Tienlen):
    name = "wrong"


def play(kind: type[TienlenState]) -> None:
    chosen, game = settings(players=2), Wrong()
    setup = player_setup(chosen, PlainLauncher(), WallClock())
    state = kind.dealt(game.options(players=2, instant_wins=()), [0b1010, 0b0101], None)
    players = [HousePlayer(seated(f"{seat}", seat), setup, game, Random(1)) for seat in range(2)]
    for player in players:
        player.sit(state)
    key = DealKey(0, 0, 0)
    DealInPlay(game, state, key, players, seeds=[0, 0], settings=chosen, faults_so_far=[0, 0]).play(
        None
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (TooManyReturns, r"the game wrong: returns\(\) gave 3 numbers for 2 players"),
        (FailingMove, r"the game wrong failed in apply_action\(\): KeyError: .* not of a bot"),
    ],
)
def test_the_game_is_named(kind: type[TienlenState], message: str) -> None:
    with pytest.raises(RunError, match=message):
        play(kind)
