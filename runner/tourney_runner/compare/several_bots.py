"""A tournament of some bots without a configuration file, and their worst deals."""

from __future__ import annotations

from contextlib import closing
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.config import Config, read_bot
from tourney_runner.config.field_types import folded
from tourney_runner.config.models import ScheduleConfig
from tourney_runner.errors import UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.play_settings import MatchConfig
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.statistics import gather
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Seed
from tourney_runner.run.tournament_setup import make_format
from tourney_runner.schedule.round_robin import RoundRobinOptions
from tourney_runner.text import ordinal, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.config.models import Entrant

__all__ = ["fixed_length", "table_of", "worst_deals"]

_NAMED = 4
"""Bots in the name of the tournament."""


def table_of(folders: Sequence[Path], game: str, seed: int | str | None) -> Config:
    """Return a round robin of one round between some bots, without a configuration file.

    Args:
        folders: The folders of two or more bots; one may be given more than once.
        game: Its tables have one seat for each bot, up to the default number of players.
        seed: The seed of the cards; random if None.

    Raises:
        ConfigError: A bot's folder is wrong.
        UsageError: The game does not support so few players.
    """
    found = find_game(game)
    entrants = _told_apart([read_bot(folder) for folder in folders])
    usual = found.options.model_validate({}).players
    players = min(len(entrants), usual)
    try:
        options = found.options.model_validate({"players": players})
    except ValueError as error:
        raise UsageError(f"{game} cannot be played by {players} players: {error}") from error
    return Config(
        path=Path("compare"),
        name=" against ".join(entrant.name for entrant in entrants[:_NAMED]),
        game=game,
        options=options,
        seed=seed,
        entrants=entrants,
        schedule=ScheduleConfig(format="round-robin", options=RoundRobinOptions(rounds=1)),
        match=MatchConfig(duplicate=players),
    )


def fixed_length(config: Config, deals: int) -> Config:
    """Return a tournament with enough rounds for a number of deals."""
    names = tuple(entrant.name for entrant in config.entrants)
    matches = make_format(config, Seed(0, secret=True), names).matches(0) or 1
    rounds = ceil(deals / (matches * max(1, config.match.duplicate)))
    return config.model_copy(
        update={
            "schedule": ScheduleConfig(
                format="round-robin", options=RoundRobinOptions(rounds=rounds)
            )
        }
    )


def worst_deals(folder: Path, names: Sequence[str]) -> list[str]:
    """Return a line for each bot with its worst deals, for `tourney replay`."""
    with closing(Store(folder / FILE_NAME)) as store:
        bots = gather(store, kept_choices(store))[1].bots
        known = store.about().names
    lines = []
    for name in names:
        worst = bots[known.index(name)].worst
        if worst:
            deals = ", ".join(
                f"{deal.number} ({ordinal(deal.place)}, {points(deal.points)} points)"
                for deal in worst
            )
            lines.append(f"worst deals of {name}: {deals}")
    return lines


def _told_apart(bots: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """Return the bots with numbers and distinct names."""
    taken: set[str] = set()
    named = []
    for number, bot in enumerate(bots):
        name, copy = bot.name, 2
        while folded(name) in taken:
            name, copy = f"{bot.name}-{copy}", copy + 1
        taken.add(folded(name))
        named.append(bot.model_copy(update={"name": name, "number": number}))
    return tuple(named)
