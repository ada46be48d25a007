"""A description of the plan of a tournament, shown before anything is played."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from tourney_runner.games import registry as games
from tourney_runner.play.seeds import seed_hash
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Seed, Stage
from tourney_runner.run.estimate import Work
from tourney_runner.run.planner import sizes
from tourney_runner.run.tournament_setup import differing_rules, limits_line, make_format
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.text import counted, pairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.config.models import Entrant
    from tourney_runner.schedule.base import Format

__all__ = ["Stored", "duration", "plan_lines", "stored_so_far", "work_left"]


def duration(seconds: float) -> str:
    """Return a duration in the unit that fits it: ``40 s``, ``25 min``, ``3.5 h``, ``2.5 days``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = minutes / 60
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


class Stored(NamedTuple):
    """The part of a tournament that is stored already."""

    deals: int = 0
    seed: Seed | None = None
    """None before the first run."""
    stages: tuple[Stage, ...] = ()
    """The changes of the field so far."""
    format_rules: int = FORMAT_RULES
    """The version of the rules for pairing that the tournament follows."""


def stored_so_far(folder: Path) -> Stored:
    """Return the stored part of the tournament in a results folder, which may be missing.

    Raises:
        UsageError: The results cannot be read.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return Stored()
    with closing(Store(path)) as store:
        record = store.tournament_if_begun()
        if record is None or record.schedule is None:
            return Stored()
        return Stored(store.count(), record.seed, record.stages, record.schedule.format_rules)


def work_left(config: Config, there: Stored) -> Work | None:
    """Return the part of a tournament that has not been played.

    Args:
        config: The tournament.
        there: The part that has been played.

    Returns:
        None if the number of matches depends on results, or a match ends at a target.
    """
    names = tuple(bot.name for bot in config.entrants)
    tournament = make_format(config, Seed(0, secret=True), names, there.stages, there.format_rules)
    rounds = tournament.rounds()
    counts = [tournament.matches(number) for number in range(rounds or 0)]
    if rounds is None or None in counts or config.match.target is not None:
        return None
    rotations = config.match.duplicate or 1
    planned = sum(count or 0 for count in counts) * rotations
    stored = there.deals // (config.match.deals or 1)
    return Work(
        matches=max(0, planned - stored),
        blocks=sizes(tournament, rotations),
        rounds=rounds,
        rotations=rotations,
        bots=len(config.entrants),
        players=config.options.players,
    )


def plan_lines(  # noqa: PLR0913 - each is shown
    config: Config,
    seed: Seed | None,
    jobs: int,
    *,
    protection: str,
    stages: Sequence[Stage] = (),
    format_rules: int = FORMAT_RULES,
) -> list[str]:
    """Return the plan in lines: entrants, rules, limits, schedule, seed.

    Args:
        config: The tournament.
        seed: None while it is secret and not yet drawn.
        jobs: The number of matches played at a time.
        protection: The launcher's description of itself.
        stages: The stages, if the field has changed since the beginning.
        format_rules: The version of the rules for pairing that the tournament follows.
    """
    drawn = seed or Seed(0, secret=True)  # the amount of play does not depend on it
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
        f"schedule: {_schedule(config, tournament)}; {counted(jobs, 'worker')}",
        f"seed: {_seed(seed)}",
    ]


def _entrant(bot: Entrant) -> str:
    team = "" if bot.team is None else f"team {bot.team}"
    rights = bot.rights.describe()
    granted = f"granted {rights}" if rights else ""
    notes = ", ".join(filter(None, (bot.language, team, granted)))
    return f"{bot.name} ({notes})" if notes else bot.name


def _schedule(config: Config, tournament: Format[Any]) -> str:
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
    return f"{text} of {kind}, {counted(deals, 'deal')}"


def _rounds(tournament: Format[Any], rounds: int) -> str:
    """Return the number of rounds in words; catch-up rounds of late entrants are listed apart."""
    late = sum(tournament.newcomer(number) is not None for number in range(rounds))
    whole = counted(rounds - late, "round")
    return f"{whole} and {late:,} in which late entrants catch up" if late else whole


def _seed(seed: Seed | None) -> str:
    if seed is None:
        return "drawn at the first run, and sealed until the tournament is closed"
    if seed.secret:
        return f"sealed until the tournament is closed; SHA-256 {seed_hash(seed.master)}"
    return seed.master
