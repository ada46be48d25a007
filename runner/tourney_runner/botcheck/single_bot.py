"""Staging of one bot outside of any tournament."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.bots import remove_unfinished, stage
from tourney_runner.run.tournament_setup import specs

if TYPE_CHECKING:
    from tourney_runner.bots import Bot
    from tourney_runner.config import Entrant
    from tourney_runner.play.play_settings import BotSpec
    from tourney_runner.process.launcher import Launcher

__all__ = ["spec_of", "stage_bot"]


def stage_bot(entrant: Entrant, launcher: Launcher) -> Bot:
    """Copy and build a bot as a tournament does, under the same protection.

    Raises:
        UsageError: The bot cannot be copied or built.
    """
    remove_unfinished()
    return stage(entrant, launcher=launcher)


def spec_of(bot: Bot, number: int) -> BotSpec:
    """Return the specification of a bot for a table, as entrant `number`."""
    (spec,) = specs([bot])
    return msgspec.structs.replace(spec, number=number)
