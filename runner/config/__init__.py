"""The configuration: YAML with positions, its models, all errors at once."""

from __future__ import annotations

from runner.config.bundled import bundled
from runner.config.load import load_config
from runner.config.models import (
    Config,
    Entrant,
    LimitsConfig,
    MatchConfig,
    RatingConfig,
    ScheduleConfig,
    TimeConfig,
)
from runner.config.schema import config_schema
from runner.config.single import read_bot

__all__ = [
    "Config",
    "Entrant",
    "LimitsConfig",
    "MatchConfig",
    "RatingConfig",
    "ScheduleConfig",
    "TimeConfig",
    "bundled",
    "config_schema",
    "load_config",
    "read_bot",
]
