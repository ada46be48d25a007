"""The parts of a tournament that follow from its configuration: seed, settings, field, record."""

from __future__ import annotations

import hashlib
import secrets
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from tourney_runner import __version__
from tourney_runner.errors import TourneyError
from tourney_runner.games import registry as games
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.play_settings import PlayConfig, PlaySettings
from tourney_runner.process.launcher import ResourceLimits
from tourney_runner.ratings.table import Anchor
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import (
    Conditions,
    OwnTime,
    Schedule,
    Seed,
    TournamentRecord,
    time_words,
)
from tourney_runner.run.worker_process import Setup
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import FORMAT_RULES, Field
from tourney_runner.schedule.field_changes import StagedFormat, Stages
from tourney_runner.schedule.registry import format_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tourney_runner.config import Config, Entrant
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.play_settings import LimitsConfig, MatchConfig
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.process.sandbox.selection import Mode
    from tourney_runner.results.tournament_record import Stage
    from tourney_runner.schedule.base import Format

__all__ = [
    "conditions",
    "differing_rules",
    "draw_seed",
    "limits_line",
    "make_field",
    "make_format",
    "make_record",
    "make_settings",
    "make_stages",
    "new_seed",
    "own_time",
    "play_settings",
    "protection_line",
    "stored_text_seed",
    "teams_of",
    "worker_setup",
]

_MOST_ALIVE = 512
"""Greatest number of bots that a worker keeps alive, if memory and open files suffice."""


def draw_seed(config: Config, kept: Seed | None) -> Seed:
    """Return the configured seed, the stored secret one, or a new secret one."""
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

    Earlier versions accepted any text. Their tournaments keep it; new ones have a number.
    """
    if (folder / FILE_NAME).is_file():
        with suppress(TourneyError), closing(Store(folder / FILE_NAME)) as store:
            seed = store.about().seed
            if not seed.secret and isinstance(seed.value, str):
                return seed.value
    return None


def play_settings(config: Config, seed: Seed) -> PlaySettings:
    """Return the settings of play of a tournament."""
    rules = config.options.in_force()
    settings = make_settings(config.game, rules, seed.master, config.match, config)
    own = {entrant.number: own_time(entrant) for entrant in config.entrants}
    return settings.with_changes(own_times={number: time for number, time in own.items() if time})


def own_time(entrant: Entrant) -> OwnTime | None:
    """Return an entrant's own time limits; None if it has those of the tournament."""
    return OwnTime(**entrant.time.model_dump()) if entrant.time is not None else None


def make_settings(
    game: str,
    rules: dict[str, Any],
    master_seed: str,
    match: MatchConfig,
    config: PlayConfig | None = None,
) -> PlaySettings:
    """Return the settings of play.

    Args:
        game: The name of the game.
        rules: All its rules.
        master_seed: The seed of all cards.
        match: The match of a table.
        config: Limits and everything else; the defaults if left out.
    """
    config = config or PlayConfig()
    return PlaySettings(
        game=game,
        rules=rules,
        master_seed=master_seed,
        match=match,
        **{name: getattr(config, name) for name in PlayConfig.model_fields},
    )


def worker_setup(config: Config, settings: PlaySettings, bots: list[Bot], sandbox: Mode) -> Setup:
    """Return the first message to every worker.

    Args:
        config: The tournament.
        settings: Its settings of play.
        bots: By number.
        sandbox: As chosen for the whole run.
    """
    return Setup(
        version=__version__,
        settings=settings,
        bots=tuple(bots),
        sandbox=sandbox,
        build_network=config.build_network,
        clock=config.clock,
        most_alive=_MOST_ALIVE,
    )


def make_field(
    master: str,
    players: int,
    names: tuple[str, ...],
    teams: Mapping[str, str | None],
    format_rules: int = FORMAT_RULES,
) -> Field:
    """Return the field of entrants for a schedule.

    Args:
        master: The master seed.
        players: The number of seats at a table.
        names: The names of the entrants, by number.
        teams: Teams by name; entrants without one may be left out.
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
    """Return the teams by name of all bots that ever joined."""
    return {entrant.name: entrant.team for entrant in config.entrants}


def make_stages(
    config: Config,
    seed: Seed,
    names: tuple[str, ...],
    stages: Sequence[Stage],
    format_rules: int = FORMAT_RULES,
) -> Stages:
    """Return the stages of a tournament whose field has changed.

    Raises:
        UsageError: Its format cannot have them.
    """
    field = make_field(seed.master, config.options.players, names, teams_of(config), format_rules)
    return Stages(config.schedule.format, field, config.schedule.options, stages)


def protection_line(launcher: Launcher, limits: LimitsConfig) -> str:
    """Return the protection of the host in one line, which is stored with the results."""
    resources = ResourceLimits(memory=limits.memory, processes=limits.processes)
    return f"{launcher.describe()} | {launcher.describe_limits(resources)}"


def make_format(
    config: Config,
    seed: Seed,
    names: tuple[str, ...],
    stages: Sequence[Stage] = (),
    format_rules: int = FORMAT_RULES,
) -> Format[Any]:
    """Return the tournament's format, ready to plan; in stages if there are any."""
    if stages:
        return StagedFormat(make_stages(config, seed, names, stages, format_rules))
    field = make_field(seed.master, config.options.players, names, teams_of(config), format_rules)
    return formats.make(config.schedule.format, field, config.schedule.options)


def differing_rules(game: str, in_force: dict[str, Any]) -> dict[str, Any]:
    """Return the rules that differ from the game's defaults for this number of players."""
    options = games.game(game).options
    usual = options.model_validate({"players": in_force["players"]}).in_force()
    return {key: value for key, value in in_force.items() if value != usual.get(key)}


def limits_line(config: Config) -> str:
    """Return the limits in one line."""
    limits = config.limits
    memory = "no limit" if limits.memory is None else f"{limits.memory >> 20} MiB"
    time = time_words(config.time.start_ms, config.time.move_ms, config.time.bank_ms)
    return (
        f"{time}, memory {memory},"
        f" output {_size(limits.output)} a move and {_size(limits.deal_output)} a deal"
    )


def _size(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size >> 10} KiB"


def conditions(protection: str, clock: str) -> Conditions:
    """Return the conditions of deals that this version of the program plays."""
    return Conditions(protection, clock, __version__)


def make_record(
    config: Config,
    seed: Seed,
    bots: Sequence[Bot],
    how: Conditions,
    format_rules: int = FORMAT_RULES,
) -> TournamentRecord:
    """Return the record of a tournament in which nothing was played.

    Args:
        config: The tournament, with the bots that take part.
        seed: Its seed.
        bots: All bots that ever joined, by number.
        how: The conditions of play.
        format_rules: The version of the rules for pairing that it follows.
    """
    rules = config.options.in_force()
    options = config.schedule.options.model_dump(mode="json")
    rounds = options.pop("rounds", None)
    teams = teams_of(config)
    times = {entrant.name: own_time(entrant) for entrant in config.entrants}
    return TournamentRecord(
        name=config.name,
        game=config.game,
        rules=rules,
        differing=differing_rules(config.game, rules),
        play=play_settings(config, seed).to_store(),
        limits=limits_line(config),
        seed=seed,
        schedule=Schedule(config.schedule.format, options, rounds, format_rules),
        bench_after=config.bench_after,
        clock=config.clock,
        sandbox=config.sandbox,
        build_network=config.build_network,
        rating=config.rating.constants(find_game(config.game).draw_probability),
        update=config.rating.updating,
        rank_by=config.rating.rank_by,
        references=(
            *format_class(config.schedule.format).references(config.schedule.options),
            *(entrant.name for entrant in config.entrants if entrant.reference),
        ),
        anchor=next(
            (
                Anchor(entrant.name, entrant.anchor)
                for entrant in config.entrants
                if entrant.anchor is not None
            ),
            None,
        ),
        entrants=tuple(bot.record(teams.get(bot.name), times.get(bot.name)) for bot in bots),
        conditions=how,
        publish=config.publish.model_dump(),
    )
