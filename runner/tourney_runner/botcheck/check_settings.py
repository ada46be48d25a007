"""The bot, the sandbox, the limits and the settings of a check."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from tourney_runner.bots import remove_unfinished, stage
from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import MatchConfig
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.process.process_tree import clean_up, end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children
from tourney_runner.process.sandbox import choose
from tourney_runner.run.tournament_setup import draw_seed, make_settings, play_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.config import Config, Entrant
    from tourney_runner.games.base import GameOptions
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.process.launcher import Launcher

__all__ = ["Plan", "Protection", "make_plan", "protection", "stage_bot", "tidy"]


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
        return self.settings.with_changes(game=game, rules=options.in_force())


def make_plan(
    config: Config | None = None,
    entrant: Entrant | None = None,
    *,
    game: str | None = None,
    deals: int = DEALS,
    seconds: float = SECONDS,
) -> Plan:
    """Plan a check under a tournament's configuration, or under the defaults.

    Args:
        config: The tournament, or None.
        entrant: The bot; its time limits in the tournament may be its own.
        game: The only game to try, or None.
        deals: The number of random deals of each game.
        seconds: The time limit for the deals of all games together.
    """
    if config is not None:
        settings = play_settings(config, draw_seed(config, None))
        time = settings.time_of(0, _number(config, entrant))
        settings = settings.with_changes(**_DEALS, time=time, own_times={})
        return Plan(settings, config.clock, config, config.game, deals, seconds)
    settings = make_settings("", {}, "check", MatchConfig(duplicate=0, deals=1))
    return Plan(
        game=game,
        deals=deals,
        seconds=seconds,
        settings=settings.with_changes(max_faults=1),
    )


def _number(config: Config, entrant: Entrant | None) -> int:
    """Return the number of a bot in a tournament, by its folder or its name; -1 if it is not in."""
    if entrant is None:
        return -1
    for key in ("folder", "name"):
        for other in config.entrants:
            if getattr(other, key) == getattr(entrant, key) is not None:
                return other.number
    return -1


def stage_bot(entrant: Entrant, launcher: Launcher, number: int) -> Bot:
    """Copy and build a bot as a tournament does, under the same protection, as entrant `number`.

    Raises:
        UsageError: The bot cannot be copied or built.
    """
    remove_unfinished()
    return msgspec.structs.replace(stage(entrant, launcher=launcher), number=number)


class Protection(NamedTuple):
    """A launcher for bots, and a warning if it does not confine them."""

    launcher: Launcher
    warning: str = ""


def protection() -> Protection:
    """Return the best protection that works here, or a plain launcher with a warning."""
    try:
        return Protection(choose("auto", trusted=False))
    except UsageError:
        return Protection(
            PlainLauncher(),
            "no sandbox works on this machine: the bots run with your own rights here, and a "
            "tournament elsewhere may allow them less",
        )


@contextmanager
def tidy() -> Iterator[None]:
    """End all processes that bots have started, and clean up after programs that were killed."""
    known = set(children(os.getpid()))
    become_subreaper()
    clean_up()
    try:
        yield
    finally:
        end_unknown_children(known)
