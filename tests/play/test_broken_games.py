"""A game whose own code is wrong: the error names it, and no bot is blamed."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Any

import pytest
from real_table import settings
from tourney_runner.errors import RunError
from tourney_runner.games.tienlen import GAME
from tourney_runner.games.tienlen.game import Tienlen
from tourney_runner.games.tienlen.state import TienlenState
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.game_errors import loop_guard
from tourney_runner.play.in_process_players import HousePlayer
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


class NotANumber(TienlenState):
    __slots__ = ()

    def returns(self) -> tuple[float, ...]:
        return (float("nan"), 0.0)


class WrongPlaces(TienlenState):
    __slots__ = ()

    def places(self) -> tuple[int, ...]:
        return (2, 2)


class WrongEvent(TienlenState):
    __slots__ = ()

    def apply_action(self, action: int) -> Any:
        super().apply_action(action)
        return {"seat": 0}


class WrongSeat(TienlenState):
    __slots__ = ()

    def apply_action(self, action: int) -> Any:
        event = super().apply_action(action)
        self.current_player = -7
        return event


LOOPING = """
from tourney_runner.games.tienlen.game import Tienlen
from tourney_runner.games.tienlen.state import TienlenState

class EndlessMove(TienlenState):
    __slots__ = ()

    def apply_action(self, action):
        while True:
            try:  # it swallows all that it can
                action += 1
            except Exception:
                pass

class Looping(Tienlen):
    name = "looping"
"""


class Wrong(Tienlen):
    name = "wrong"


class BlankCodes(Wrong):
    def encode(self, action: int) -> str:  # type: ignore[override]
        return f"a b {action}"


def play(kind: type[TienlenState], game: Tienlen | None = None) -> None:
    chosen, game = settings(players=2), game or Wrong()
    setup = player_setup(chosen, PlainLauncher(), WallClock())
    state = kind.dealt(game.options(players=2, instant_wins=()), [0b1010, 0b0101], None)
    players = [HousePlayer(Bot(name=f"{at}", number=at), setup, game, Random(1)) for at in range(2)]
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
        (NotANumber, r"returns\(\) gave nan, which is not a finite number"),
        (WrongPlaces, r"places\(\) gave \[2, 2\]; players who tie share the best place"),
        (WrongEvent, r"an event is \{'seat': 0\}, expected a TienlenEvent or a SeatEvents"),
        (WrongSeat, r"the game wrong: current_player is -7, not a seat"),
        (FailingMove, r"the game wrong failed in apply_action\(\): KeyError: .* not of a bot"),
    ],
)
def test_the_game_is_named(kind: type[TienlenState], message: str) -> None:
    with pytest.raises(RunError, match=message):
        play(kind)


def test_codes_that_cannot_be_stored_are_named() -> None:
    with pytest.raises(RunError, match=r"the game wrong: encode\(\) gave a text"):
        play(TienlenState, BlankCodes())


def test_a_call_that_never_returns_is_ended_and_named() -> None:
    module: dict[str, Any] = {"__name__": "looping_game"}  # apart from the code of this test
    exec(LOOPING, module)  # noqa: S102 - ours
    game = module["Looping"]()
    with (
        pytest.raises(RunError, match=r"looping did not return from apply_action\(\) in 0.2 s"),
        loop_guard(game, seconds=0.2),
    ):
        play(module["EndlessMove"], game)


def test_the_guard_leaves_many_short_calls_alone() -> None:
    until = process_time() + 0.3
    with loop_guard(GAME, seconds=0.02):
        while process_time() < until:
            play(TienlenState)
