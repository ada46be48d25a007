"""The plan of a tournament in words, and an estimate of its duration."""

from __future__ import annotations

import secrets
import time
from contextlib import closing
from math import ceil
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.games import registry as games
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.seeds import seed_hash
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Seed, Stage
from tourney_runner.run.local import LocalExecutor
from tourney_runner.run.planner import Sizes, blocks, sizes
from tourney_runner.run.tournament_setup import (
    differing_rules,
    limits_line,
    make_format,
    own_time,
)
from tourney_runner.run.worker_process import Chunk, HostFailed, Played
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.text import counted, pairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.config.models import Entrant
    from tourney_runner.run.executor import Executor
    from tourney_runner.run.worker_process import Setup
    from tourney_runner.schedule.base import Format

__all__ = [
    "Pace",
    "Stored",
    "Work",
    "duration",
    "estimate",
    "measure",
    "plan_lines",
    "stored_so_far",
    "work_left",
]


_SECONDS = 4.0
"""The sample ends with the pass during which this much time is over."""
_PASSES = 12
_TABLES = 16
"""Tables of one pass; bots of a larger field are represented by those that sit there."""
_PATIENCE = 60.0
"""Seconds after which one pass is given up: these bots think for long."""
_AROUND = 1.5
"""Seconds that a run takes besides its matches: imports, checks, tables and the site."""
_LOW, _HIGH = 1 / 1.6, 1.8
"""The ends of the range relative to the estimate. They hold the truth in four of five cases
(`benchmarks/estimates.py`): machines are shared, and later deals are longer or shorter."""


class Pace(NamedTuple):
    """The speed of some bots on this machine."""

    match_seconds: float
    """The mean duration of a match (of one rotation, with duplicate deals) once bots run."""
    start_seconds: float
    """The mean duration of the start of one bot."""


class Work(NamedTuple):
    """The part of a tournament that has not been played."""

    matches: int
    """Rotations counted."""
    blocks: Sizes
    rounds: int
    rotations: int
    """1 for fresh deals."""
    bots: int
    players: int


def measure(setup: Setup, players: int) -> Pace:
    """Play a few matches outside of any tournament and return the pace.

    The cards come from a seed of their own, so that no bot sees a card of the tournament.

    Args:
        setup: As for the workers of the run.
        players: The seats of a table.

    Raises:
        UsageError: The bots did not finish one match each in time, or the host failed.
    """
    settings = setup.settings.with_changes(master_seed=secrets.token_hex(16))
    executor = LocalExecutor(msgspec.structs.replace(setup, settings=settings), 1)
    try:
        return _sampled(executor, [bot.number for bot in setup.bots], players)
    finally:
        executor.kill()


def _sampled(executor: Executor, bots: list[int], players: int) -> Pace:
    tables = _tables(bots, players)
    seated = len({bot for table in tables for bot in table})
    began = time.monotonic()
    first = _play(executor, 0, tables)
    warm: list[float] = []
    while len(warm) < _PASSES and (not warm or time.monotonic() - began < _SECONDS):
        warm.append(_play(executor, len(warm) + 1, tables))
    seconds = sum(warm) / len(warm)
    return Pace(seconds / len(tables), max(0.0, first - seconds) / seated)


def _tables(bots: list[int], players: int) -> list[tuple[int, ...]]:
    """Return tables at which every bot of a small field sits at least once."""
    shuffled = Random(len(bots)).sample(bots, len(bots))  # noqa: S311 - only a sample
    around = shuffled + shuffled[:players]
    starts = range(0, len(bots), players)
    return [tuple(around[at : at + players]) for at in starts][:_TABLES]


def _play(executor: Executor, number: int, tables: list[tuple[int, ...]]) -> float:
    """Play one pass and return its duration in seconds."""
    matches = tuple(MatchPlan(number, at, seating) for at, seating in enumerate(tables))
    executor.submit(Chunk(number, matches, block=number))
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        for outcome in executor.wait(0.1):
            if isinstance(outcome, Played):
                return outcome.seconds
            if isinstance(outcome, HostFailed):
                raise UsageError(f"the duration cannot be estimated: {outcome.cause}")
    raise UsageError(f"the duration cannot be estimated: a sample took over {_PATIENCE:g} s")


def estimate(pace: Pace, work: Work, jobs: int) -> tuple[float, float]:
    """Return the range, in seconds, that holds the duration of a run in four of five cases.

    Args:
        pace: The speed of one worker.
        work: The part that has not been played.
        jobs: Workers, each with a core of its own.
    """
    if not work.matches:
        return 0.0, _AROUND
    playing = work.matches * pace.match_seconds / jobs
    starting = _starts(work, jobs) * pace.start_seconds / jobs
    seconds = _AROUND + playing + starting
    return seconds * _LOW, seconds * _HIGH


def _starts(work: Work, jobs: int) -> float:
    """Return about how many bots are started: at the check, by each worker, and for renewals."""
    seats = work.matches * work.players
    first = work.bots + min(jobs * work.bots, seats)
    if work.rotations == 1 or not work.blocks.matches:
        return first
    lanes = min(jobs, work.rotations)
    renewals = (ceil(work.rotations / lanes) - 1) * lanes
    each = min(work.bots, ceil(seats / (work.rotations * lanes)))
    played = 0
    for spans, span in enumerate(blocks(work.blocks)):
        played = span.rounds.stop
        if played >= work.rounds:
            return first + (spans + 1) * renewals * each
    return first


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
        DamageError: They are damaged.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return Stored()
    with closing(Store(path)) as store:
        record = store.tournament_if_begun()
        if record is None or record.schedule is None:
            return Stored()
        for _ in store.outcomes():
            pass  # reading a deal checks it
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
    time = own_time(bot)
    limits = f"own time limits: {time}" if time else ""
    notes = ", ".join(filter(None, (bot.language, team, granted, limits)))
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
