"""Bots: from an entrant's folder to a program that is ready to run."""

from __future__ import annotations

from tourney_runner.bots.bot import Bot
from tourney_runner.bots.staging import remove_unfinished, stage

__all__ = ["Bot", "remove_unfinished", "stage"]
