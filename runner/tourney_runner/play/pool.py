"""The pool of players that a worker keeps running."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from tourney_runner.play.player import Player
from tourney_runner.process.cgroup import is_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tourney_runner.play.bot import Bot
    from tourney_runner.play.player import PlayerSetup

__all__ = ["PlayerPool"]

_LOOK_EVERY = 0.25
"""Seconds between two checks of free memory, while there is enough."""
_GRACE = 0.2
"""Seconds that bots get to end after their input is closed."""


class PlayerPool:
    """Players by entrant number. When there are too many, the least recently used are ended.

    Args:
        bots: All entrants.
        setup: Returns the setup of a bot.
        most: The maximum number of running bots, if memory allows. A table always gets all the
            players it needs.
    """

    def __init__(self, bots: Iterable[Bot], setup: Callable[[Bot], PlayerSetup], most: int) -> None:
        self._bots = {bot.number: bot for bot in bots}
        self._setup = setup
        self._most = most
        self._players: OrderedDict[int, Player] = OrderedDict()
        self._next_look = 0.0

    def seat(self, entrants: tuple[int, ...]) -> list[Player]:
        """Return the players for a table, by seat, without starting any."""
        for number in entrants:
            if number not in self._players:
                bot = self._bots[number]
                self._players[number] = Player(bot, self._setup(bot))
            self._players.move_to_end(number)
        most = max(self._most, len(entrants))
        while len(self._players) > most or (len(self._players) > len(entrants) and self._look()):
            _, oldest = self._players.popitem(last=False)
            _dismiss([oldest])
        return [self._players[number] for number in entrants]

    def _look(self) -> bool:
        """Return whether memory is short, checked every `_LOOK_EVERY` seconds while it is not."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        short = is_short()
        if not short:
            self._next_look = now + _LOOK_EVERY
        return short

    def renew(self) -> None:
        """End all processes after a short grace period; the next deal starts new ones."""
        _dismiss(list(self._players.values()))
        self._players.clear()

    def kill(self) -> None:
        """End all processes at once."""
        for player in self._players.values():
            player.stop()
        self._players.clear()


def _dismiss(players: list[Player]) -> None:
    for player in players:
        player.farewell()
    until = time.monotonic() + _GRACE
    for player in players:
        player.wait(max(0.0, until - time.monotonic()))
        player.stop()
