"""A table with the fair clock, whose bots are a few lines of Python that take their time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tourney_runner.games.registry import game
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.fair_clock import FairClock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.process.clock import Clock
    from tourney_runner.results.records import DealRecord

__all__ = ["HALF", "LIMIT_MS", "bot", "play", "settings"]

LIMIT_MS = 200
HALF = LIMIT_MS / 2000

FRAME = """\
import hashlib, json, sys, threading, time

def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass

def think(): pass
def after(): pass

{body}

turns = 0
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready", "legal": "canonical"}}), flush=True)
    elif message["type"] == "deal":
        turns = 0
    elif message["type"] == "move":
        turns += 1
        if turns <= {turns}:
            think()
        print(json.dumps({{"id": message["id"], **message["legal"][0]}}), flush=True)
        after()
"""


def settings(**changes: object) -> PlaySettings:
    values = {
        "game": "tienlen",
        "rules": game("tienlen").options(players=2, instant_wins=()).in_force(),
        "master_seed": "clock",
        "duplicate": 2,
        "deals": None,
        "target": None,
        "start_ms": 60_000,
        "move_ms": LIMIT_MS,
        "bank_ms": 0,
        "on_fault": "forfeit",
        "max_faults": 3,
        "restart": "fault",
        "strict": False,
        "ponder": False,
        "reveal_names": False,
        "memory": 2 << 30,
        "output": 1 << 20,
        "stderr": 1 << 16,
    }
    return PlaySettings.stored({**values, **changes})


def bot(folder: Path, number: int, body: str, turns: int = 3) -> Bot:
    home = folder / str(number)
    home.mkdir()
    (home / "bot.py").write_text(FRAME.format(body=body, turns=turns))
    return Bot(
        number=number,
        name=f"bot {number}",
        command=(sys.executable, "-S", "-E", "bot.py"),
        folder=str(home),
    )


def play(
    bots: list[Bot], matches: int = 1, clock: Clock | None = None, **changes: object
) -> list[DealRecord]:
    tables = Tables(settings(**changes), bots, PlainLauncher(), clock or FairClock(), most_alive=4)
    try:
        return [
            record
            for match in range(matches)
            for record in tables.play(MatchPlan(0, match, (0, 1)))
        ]
    finally:
        tables.pool.kill()
