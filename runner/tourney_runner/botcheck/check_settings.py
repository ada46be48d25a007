"""The limits and the settings of a check."""

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
"""Match settings: each trial is a single deal, and a fault ends it."""


@dataclass(frozen=True)
class Plan:
    """The plan of a check: the limits of a tournament, and the games to try."""

    settings: PlaySettings
    """The settings; the check replaces their game and rules."""
    clock: Literal["fair", "wall"] = "fair"
    config: Config | None = None
    """The tournament whose game and rules are tried; None for all games that the bot claims."""
    game: str | None = None
    """The only game to try; None for all games that the bot claims."""
    deals: int = DEALS
    """The number of random deals of each game."""
    seconds: float = SECONDS
    """The time limit for the deals of all games together, in seconds."""

    def settings_for(self, game: str, options: GameOptions) -> PlaySettings:
        """Return the settings with another game and its rules."""
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
        config: The tournament, or None.
        game: The only game to try, or None.
        deals: The number of random deals of each game.
        seconds: The time limit for the deals of all games together.
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
