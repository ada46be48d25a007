"""Players that run inside this program and sit at the same tables as bots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.play.player import Player

if TYPE_CHECKING:
    from random import Random

    from tourney_runner.games.base import Answer, Game, State
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.player import PlayerSetup

__all__ = ["HousePlayer", "LocalPlayer"]


class LocalPlayer(Player, ABC):
    """A player without a process. It sees the full state and answers with `choose`.

    Args:
        bot: The entrant.
        setup: The setup shared with the other players at the table.
        game: The game to play.
    """

    def __init__(self, bot: Bot, setup: PlayerSetup, game: Game[Any, Any]) -> None:
        super().__init__(bot, setup)
        self.game = game
        self._state: State[Any] | None = None
        self.running = True

    def sit(self, state: State[Any]) -> None:
        """Take a seat in a deal."""
        self._state = state

    @property
    def state(self) -> State[Any]:
        """Return the state of the deal in play."""
        if self._state is None:
            raise RuntimeError("a local player sits down before it is asked: call sit")
        return self._state

    def ask(self, request: bytes, request_id: int, limit: int) -> tuple[Answer, int]:
        """Answer a request; see `Player.ask`. The time charged never exceeds the limit."""
        self._outbox.clear()
        began = monotonic_ns()
        fields = self.choose(request)
        answer = msgspec.convert({"id": request_id, **fields}, self.game.answer)
        return answer, min(monotonic_ns() - began, limit)

    def stop(self) -> None:
        """Clear pending lines; see `Player.stop`. The player stays ready as it has no process."""
        self._outbox.clear()

    @abstractmethod
    def choose(self, request: bytes) -> dict[str, Any]:
        """Return the answer to a request, without its id."""


class HousePlayer(LocalPlayer):
    """A player that chooses legal actions at random.

    Args:
        bot: The entrant.
        setup: The setup shared with the other players at the table.
        game: The game to play.
        chance: The source of its random choices.
    """

    def __init__(self, bot: Bot, setup: PlayerSetup, game: Game[Any, Any], chance: Random) -> None:
        super().__init__(bot, setup, game)
        self._chance = chance

    def choose(self, request: bytes) -> dict[str, Any]:  # noqa: ARG002 - it sees the state
        """Return a random legal answer; see `LocalPlayer.choose`."""
        state = self.state
        return state.write(self._chance.choice(state.legal_actions("canonical").actions))
