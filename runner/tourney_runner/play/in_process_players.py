"""Seats that are played inside this program, at tables of the usual kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.play.play_settings import BotSpec
from tourney_runner.play.player import Player

if TYPE_CHECKING:
    from random import Random

    from tourney_runner.games.base import Answer, Game, State
    from tourney_runner.play.player import PlayerSetup

__all__ = ["HousePlayer", "LocalPlayer", "seated"]


def seated(name: str, number: int) -> BotSpec:
    """An entrant without a program."""
    return BotSpec(number=number, name=name, command=(), folder="")


class LocalPlayer(Player, ABC):
    """A player without a process: it sees the very state and answers by `choose`.

    Args:
        bot: Who it is.
        setup: As the other players at the table have it.
        game: What is played.
    """

    def __init__(self, bot: BotSpec, setup: PlayerSetup, game: Game[Any, Any]) -> None:
        super().__init__(bot, setup)
        self.game = game
        self._state: State[Any] | None = None
        self.running = True

    def sit(self, state: State[Any]) -> None:
        """Take part in a deal."""
        self._state = state

    @property
    def state(self) -> State[Any]:
        """The deal that is being played."""
        if self._state is None:
            raise RuntimeError("a local player sits down before it is asked: call sit")
        return self._state

    def ask(self, request: bytes, request_id: int, limit: int) -> tuple[Answer, int]:
        """See `Player.ask`; the time is never held against it."""
        self._outbox.clear()
        began = monotonic_ns()
        fields = self.choose(request)
        answer = msgspec.convert({"id": request_id, **fields}, self.game.answer)
        return answer, min(monotonic_ns() - began, limit)

    def stop(self) -> None:
        """See `Player.stop`; it stays ready, for it has no process to end."""
        self._outbox.clear()

    @abstractmethod
    def choose(self, request: bytes) -> dict[str, Any]:
        """The answer to a request, without its id."""


class HousePlayer(LocalPlayer):
    """Plays any legal action by chance.

    Args:
        bot: Who it is.
        setup: As the other players at the table have it.
        game: What is played.
        chance: Where its choices come from.
    """

    def __init__(
        self, bot: BotSpec, setup: PlayerSetup, game: Game[Any, Any], chance: Random
    ) -> None:
        super().__init__(bot, setup, game)
        self._chance = chance

    def choose(self, request: bytes) -> dict[str, Any]:  # noqa: ARG002 - it sees the state
        """See `LocalPlayer.choose`."""
        state = self.state
        return state.write(self._chance.choice(state.legal_actions("canonical").actions))
