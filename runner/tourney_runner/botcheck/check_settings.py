"""Under which limits a bot is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.config.models import MatchConfig
from tourney_runner.run.tournament_setup import draw_seed, make_settings, play_settings

if TYPE_CHECKING:
    from tourney_runner.config import Config
    from tourney_runner.games.base import GameOptions
    from tourney_runner.play.play_settings import PlaySettings

__all__ = ["Plan", "make_plan"]

DEALS, SECONDS = 40, 30.0

_DEALS = {"duplicate": 0, "deals": 1, "target": None, "on_fault": "forfeit", "restart": "fault"}
"""Every trial is a deal by itself, and a fault ends it."""


@dataclass(frozen=True)
class Plan:
    """How a tournament would treat the bot."""

    settings: PlaySettings
    """The trial sets game and rules itself."""
    clock: Literal["fair", "wall"] = "fair"
    config: Config | None = None
    """The tournament whose game and rules alone are tried; None for all that the bot claims."""
    game: str | None = None
    """The one game to try; None for all that the bot claims."""
    deals: int = DEALS
    """Random deals of each game."""
    seconds: float = SECONDS
    """The most time for deals, all games together."""

    def settings_for(self, game: str, options: GameOptions) -> PlaySettings:
        """Return the settings under some rules."""
        return msgspec.structs.replace(self.settings, game=game, rules=options.in_force())


def make_plan(
    config: Config | None = None,
    *,
    game: str | None = None,
    deals: int = DEALS,
    seconds: float = SECONDS,
) -> Plan:
    """Plan a check under a tournament's configuration, or under the defaults.

    Args:
        config: The tournament.
        game: The one game to try.
        deals: Random deals of each game.
        seconds: The most time for deals.
    """
    if config is not None:
        settings = msgspec.structs.replace(play_settings(config, draw_seed(config, None)), **_DEALS)
        return Plan(settings, config.clock, config, config.game, deals, seconds)
    settings = make_settings("", {}, "check", MatchConfig(duplicate=0, deals=1))
    return Plan(
        game=game,
        deals=deals,
        seconds=seconds,
        settings=msgspec.structs.replace(settings, max_faults=1),
    )
