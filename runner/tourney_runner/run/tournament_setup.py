"""From a configuration to everything that workers and planner need."""

from __future__ import annotations

import hashlib
import secrets
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import TourneyError
from tourney_runner.play.play_settings import BotSpec, PlaySettings
from tourney_runner.process.launcher import ResourceLimits
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Seed
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import FORMAT_RULES, Field
from tourney_runner.schedule.field_changes import StagedFormat, Stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tourney_runner.bots import Bot
    from tourney_runner.config import Config, LimitsConfig
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.tournament_record import Stage
    from tourney_runner.schedule.base import Format

__all__ = [
    "draw_seed",
    "make_field",
    "make_format",
    "make_stages",
    "new_seed",
    "play_settings",
    "protection_line",
    "specs",
    "stored_text_seed",
    "teams_of",
]


def draw_seed(config: Config, kept: Seed | None) -> Seed:
    """The seed of the configuration, or the one kept from the first run, or a new secret one."""
    if config.seed is not None:
        return Seed(config.seed, secret=False)
    if kept is not None and kept.secret:
        return kept
    return Seed(new_seed(), secret=True)


def new_seed() -> str:
    """Draw a secret seed of 128 bits."""
    return secrets.token_hex(16)


def stored_text_seed(folder: Path) -> str | None:
    """Return the public seed of a folder's results if it is a text, else None.

    Earlier versions took any text. Their tournaments go on with it; new ones have a number.
    """
    if (folder / FILE_NAME).is_file():
        with suppress(TourneyError), closing(Store(folder / FILE_NAME)) as store:
            seed = store.about().seed
            if not seed.secret and isinstance(seed.value, str):
                return seed.value
    return None


def specs(bots: list[Bot]) -> tuple[BotSpec, ...]:
    """What workers need to know of the bots."""
    return tuple(
        BotSpec(
            number=bot.number,
            name=bot.name,
            command=bot.command,
            folder=bot.folder,
            env=tuple(bot.env.items()),
            trusted=bot.trusted,
            rights=bot.rights,
        )
        for bot in bots
    )


def play_settings(config: Config, seed: Seed) -> PlaySettings:
    """How deals are played."""
    return PlaySettings(
        game=config.game,
        rules=config.options.in_force(),
        master_seed=seed.master,
        duplicate=config.match.duplicate,
        deals=config.match.deals,
        target=config.match.target,
        start_ms=config.time.start_ms,
        move_ms=config.time.move_ms,
        bank_ms=config.time.bank_ms,
        on_fault=config.on_fault,
        max_faults=config.max_faults,
        restart=config.restart,
        strict=config.strict,
        ponder=config.ponder,
        reveal_names=config.reveal_names,
        memory=config.limits.memory,
        processes=config.limits.processes,
        file_size=config.limits.file_size,
        temp=config.limits.temp,
        output=config.limits.output,
        deal_output=config.limits.deal_output,
        stderr=config.limits.stderr,
    )


def make_field(
    master: str,
    players: int,
    names: tuple[str, ...],
    teams: Mapping[str, str | None],
    format_rules: int = FORMAT_RULES,
) -> Field:
    """All entrants as a schedule needs to know them.

    Args:
        master: The master seed.
        players: At one table.
        names: Of the entrants, by number.
        teams: By name; those without one may be left out.
        format_rules: The version of the rules for pairing that the tournament follows.
    """
    number = int.from_bytes(hashlib.sha256(master.encode()).digest()[:8], "big")
    return Field(
        entrants=len(names),
        players=players,
        seed=number,
        names=names,
        teams=tuple(teams.get(name) for name in names),
        format_rules=format_rules,
    )


def teams_of(config: Config) -> dict[str, str | None]:
    """By name, for all who ever joined."""
    return {entrant.name: entrant.team for entrant in config.entrants}


def make_stages(
    config: Config,
    seed: Seed,
    names: tuple[str, ...],
    stages: Sequence[Stage],
    format_rules: int = FORMAT_RULES,
) -> Stages:
    """The stages of a tournament whose field has changed.

    Raises:
        UsageError: Its format cannot have them.
    """
    field = make_field(seed.master, config.options.players, names, teams_of(config), format_rules)
    return Stages(config.schedule.format, field, config.schedule.options, stages)


def protection_line(launcher: Launcher, limits: LimitsConfig) -> str:
    """What protects the host, in one line that is stored with the results."""
    resources = ResourceLimits(memory=limits.memory, processes=limits.processes)
    return f"{launcher.describe()} | {launcher.describe_limits(resources)}"


def make_format(
    config: Config,
    seed: Seed,
    names: tuple[str, ...],
    stages: Sequence[Stage] = (),
    format_rules: int = FORMAT_RULES,
) -> Format[Any]:
    """The tournament's format, ready to plan; in stages if there are any."""
    if stages:
        return StagedFormat(make_stages(config, seed, names, stages, format_rules))
    field = make_field(seed.master, config.options.players, names, teams_of(config), format_rules)
    return formats.make(config.schedule.format, field, config.schedule.options)
