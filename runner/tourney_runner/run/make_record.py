"""The record of a tournament, made from its configuration and its bots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner import __version__
from tourney_runner.games.registry import game as find_game
from tourney_runner.results.tournament_record import (
    Conditions,
    EntrantRecord,
    Schedule,
    TournamentRecord,
)
from tourney_runner.run.preview import differing_rules, limits_line
from tourney_runner.run.tournament_setup import play_settings, teams_of
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.schedule.registry import format_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.bots import Bot
    from tourney_runner.config import Config
    from tourney_runner.results.tournament_record import Seed

__all__ = ["conditions", "entrant_record", "make_record"]


def conditions(protection: str, clock: str) -> Conditions:
    """Return the conditions of deals that this version of the program plays."""
    return Conditions(protection, clock, __version__)


def entrant_record(bot: Bot, team: str | None = None) -> EntrantRecord:
    """Return what is stored of a bot."""
    return EntrantRecord(
        number=bot.number,
        name=bot.name,
        hash=bot.hash,
        team=team,
        rights=bot.rights,
        language=bot.language,
        author=bot.author,
        executable=bot.executable,
    )


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
        bots: All who ever joined, by number.
        how: The conditions of play.
        format_rules: The version of the rules for pairing that it follows.
    """
    rules = config.options.in_force()
    options = config.schedule.options.model_dump(mode="json")
    rounds = options.pop("rounds", None)
    teams = teams_of(config)
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
        references=format_class(config.schedule.format).references(config.schedule.options),
        entrants=tuple(entrant_record(bot, teams.get(bot.name)) for bot in bots),
        conditions=how,
        publish=config.publish.model_dump(),
    )
