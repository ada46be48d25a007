"""The plan of a tournament in words, shown before anything is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tourney_runner.games import registry as games
from tourney_runner.play.seeds import seed_hash
from tourney_runner.results.tournament_record import Seed
from tourney_runner.run.tournament_setup import differing_rules, limits_line, make_format
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.text import counted, pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.config import Config
    from tourney_runner.config.models import Entrant
    from tourney_runner.results.tournament_record import Stage
    from tourney_runner.schedule.base import Format

__all__ = ["duration", "plan_lines"]

_GUESS_SECONDS = 0.02
"""Of one deal: what the runner and quick bots in Python take.

No plan can know more. Bots that think take longer by whatever they think, and how often bots are
started follows from the number of workers; the run itself knows better after a moment.
"""


def duration(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def plan_lines(  # noqa: PLR0913 - each is shown
    config: Config,
    seed: Seed | None,
    jobs: int,
    *,
    protection: str,
    stages: Sequence[Stage] = (),
    format_rules: int = FORMAT_RULES,
) -> list[str]:
    """What will be played, by whom, under which rules and limits.

    Args:
        config: The tournament.
        seed: None while it is secret and not yet drawn.
        jobs: How many matches are played at a time.
        protection: What the launcher says of itself.
        stages: Where the field has changed since the beginning.
        format_rules: The version of the rules for pairing that the tournament follows.
    """
    drawn = seed or Seed(0, secret=True)  # how much is played does not depend on it
    names = tuple(bot.name for bot in config.entrants)
    tournament = make_format(config, drawn, names, stages, format_rules)
    kind = formats.format_class(config.schedule.format)
    rules = config.options.in_force()
    differing = differing_rules(config.game, rules)
    return [
        (
            f"{config.name}: {games.game(config.game).title}, {len(config.entrants)} bots,"
            f" tables of {config.options.players}"
        ),
        *(f"  {bot.number + 1:3}. {_entrant(bot)}" for bot in config.entrants),
        *(f"  {bot.name} is left out: {bot.why}" for bot in config.skipped),
        "rules: "
        + (pairs(differing) if differing else f"all as usual (tourney games {config.game})"),
        f"limits: {limits_line(config)}; on a fault: {config.on_fault}",
        f"protection: {protection}",
        f"format: {kind.name}, {kind.summary}",
        f"schedule: {_schedule(config, tournament, jobs)}",
        f"seed: {_seed(seed)}",
    ]


def _entrant(bot: Entrant) -> str:
    team = "" if bot.team is None else f"team {bot.team}"
    rights = bot.rights.describe()
    granted = f"granted {rights}" if rights else ""
    notes = ", ".join(filter(None, (bot.language, team, granted)))
    return f"{bot.name} ({notes})" if notes else bot.name


def _schedule(config: Config, tournament: Format[Any], jobs: int) -> str:
    rounds = tournament.rounds()
    if rounds is None:
        return tournament.length()
    length = _rounds(tournament, rounds)
    counts = [tournament.matches(number) for number in range(rounds)]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return length
    matches = sum(known)
    each = config.match.duplicate or config.match.deals
    text = f"{length}, {counted(matches, 'match', 'matches')}"
    if each is None:
        return f"{text} of fresh deals to {config.match.target:g} points"
    if config.match.duplicate:
        kind = counted(each, "rotation of the same cards", "rotations of the same cards")
    else:
        kind = counted(each, "fresh deal")
    deals = matches * each
    guess = duration(deals * _GUESS_SECONDS / jobs)
    return (
        f"{text} of {kind}, {counted(deals, 'deal')}; about {guess} with {counted(jobs, 'worker')}"
        f" at {_GUESS_SECONDS * 1000:g} ms a deal,"
        " plus the starts of the bots and the time they think"
    )


def _rounds(tournament: Format[Any], rounds: int) -> str:
    """How many rounds there are; those of late entrants have fewer tables, and are told apart."""
    late = sum(tournament.newcomer(number) is not None for number in range(rounds))
    whole = counted(rounds - late, "round")
    return f"{whole} and {late:,} in which late entrants catch up" if late else whole


def _seed(seed: Seed | None) -> str:
    if seed is None:
        return "drawn at the first run, and sealed until the tournament is closed"
    if seed.secret:
        return f"sealed until the tournament is closed; SHA-256 {seed_hash(seed.master)}"
    return seed.master
