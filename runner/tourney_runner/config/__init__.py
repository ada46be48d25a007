"""Reading configurations: a tournament's YAML file and each bot's ``bot.yaml``.

Files enter. A checked and frozen `Config` leaves, or one error that lists all problems with line
and column.
"""

from __future__ import annotations

from tourney_runner.config.load import load_config, read_bot
from tourney_runner.config.models import Config, Entrant, RatingConfig, ScheduleConfig
from tourney_runner.config.paths import bundled
from tourney_runner.config.schema import config_schema

__all__ = [
    "Config",
    "Entrant",
    "RatingConfig",
    "ScheduleConfig",
    "bundled",
    "config_schema",
    "load_config",
    "read_bot",
]
