"""An estimate of how long a tournament takes, from a sample of matches of its own bots."""

from __future__ import annotations

import secrets
import time
from math import ceil
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import MatchPlan
from tourney_runner.run.local import LocalExecutor
from tourney_runner.run.planner import Sizes, blocks
from tourney_runner.run.worker_messages import Chunk, HostFailed, Played

if TYPE_CHECKING:
    from tourney_runner.run.executor import Executor
    from tourney_runner.run.worker_messages import Setup

__all__ = ["Pace", "Work", "estimate", "measure"]

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
    settings = msgspec.structs.replace(setup.settings, master_seed=secrets.token_hex(16))
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
