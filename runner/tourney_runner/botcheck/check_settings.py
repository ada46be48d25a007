"""Under which limits a bot is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.config import LimitsConfig, TimeConfig
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.run.tournament_setup import draw_seed, play_settings

if TYPE_CHECKING:
    from tourney_runner.config import Config

__all__ = ["Plan", "make_plan"]

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


def make_plan(config: Config | None = None) -> Plan:
    """As a tournament's configuration has it, or as the defaults are."""
    if config is not None:
        settings = play_settings(config, draw_seed(config, None))
        return Plan(msgspec.structs.replace(settings, **_DEALS), config.clock, config)
    time, limits = TimeConfig(), LimitsConfig()
    return Plan(
        PlaySettings(
            game="",
            rules={},
            master_seed="check",
            duplicate=0,
            deals=1,
            target=None,
            start_ms=time.start_ms,
            move_ms=time.move_ms,
            bank_ms=time.bank_ms,
            on_fault="forfeit",
            max_faults=1,
            restart="fault",
            strict=False,
            ponder=False,
            reveal_names=False,
            memory=limits.memory,
            output=limits.output,
            deal_output=limits.deal_output,
            stderr=limits.stderr,
        )
    )
