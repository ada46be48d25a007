"""Moves a second of bots in several languages, four of a kind at a table of Tien Len.

All share one core with the runner; ``cpu`` is the processor time of runner and bots together, their
start left out; its ratio is to the trivial C bot in the same run. Languages that this machine lacks
are left out.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from figures import report
from moves import build, settings
from program import cpu_seconds
from tourney_runner.bots import stage
from tourney_runner.config import load_config
from tourney_runner.errors import TourneyError
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    import argparse

BOTS = Path(__file__).parents[1] / "bots"
LANGUAGES = {"c": "c", "python": "random", "node": "javascript", "java": "java"}
SECONDS = 3.0
WARM_UP = 3


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        trivial = Bot(number=0, name="trivial", command=(build(folder),), folder=folder)
        reference = _speed(trivial, arguments.matches)
        figures |= {f"trivial_c_{what}": value for what, value in reference.items()}
        for language, name in LANGUAGES.items():
            bot = _staged(Path(folder), name)
            if bot is None:
                continue
            speed = _speed(bot, arguments.matches)
            figures |= {f"{language}_{what}": value for what, value in speed.items()}
            ratio = speed["cpu_us_a_move"] / reference["cpu_us_a_move"]
            figures[f"{language}_cpu_ratio"] = ratio
    return figures


def _staged(folder: Path, name: str) -> Bot | None:
    """Return a bundled bot, or None if its language is missing."""
    config = folder / "one.yaml"
    config.write_text(f"game: tienlen\nbots: [{BOTS / name}, {{bot: {BOTS / name}, name: b}}]\n")
    config.write_text(f"{config.read_text()}rules: {{players: 2}}\n")
    try:
        bot = stage(load_config(config).entrants[0], folder / "cache")
    except TourneyError:
        return None
    return bot


def _speed(bot: Bot, matches: int) -> dict[str, float]:
    """Moves and deals a second, and the processor time of a deal, once the bots are warm."""
    bots = [msgspec.structs.replace(bot, number=seat, name=str(seat)) for seat in range(4)]
    tables = Tables(settings(), bots, PlainLauncher(), make_clock("fair"), most_alive=4)
    try:
        for match in range(WARM_UP):
            _moves(tables, match)
        began, used, moves, deals = time.perf_counter(), cpu_seconds(os.getpid()), 0, 0
        while deals < matches and time.perf_counter() - began < SECONDS:
            moves += _moves(tables, WARM_UP + deals)
            deals += 1
        seconds, spent = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    finally:
        tables.pool.kill()
    return {
        "moves_per_second": moves / seconds,
        "deals_per_second": deals / seconds,
        "cpu_ms_a_deal": spent / deals * 1e3,
        "cpu_us_a_move": spent / moves * 1e6,
    }


def _moves(tables: Tables, match: int) -> int:
    (record,) = tables.play(MatchPlan(0, match, (0, 1, 2, 3)))
    assert not record.faults, record.faults
    return sum(seat.moves for seat in record.times)


if __name__ == "__main__":
    report(measure, __doc__ or "", matches=500)
