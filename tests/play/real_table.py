"""A table with real bot processes, whose bots are a few lines of Python each."""

from __future__ import annotations

import json
import sys
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any

from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables, dealt
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.play.seeds import match_seed
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.results.records import DealKey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.play.match_plan import AutoForfeit
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.records import DealRecord, FaultRecord

__all__ = ["LIMIT", "RealTable", "only_fault", "settings"]

LIMIT = 400
"""Milliseconds for a move at tables where somebody is late; everywhere else it is 10 s."""

_FRAME = """\
import json, os, sys, time

def log(entry):
    with open({log!r}, "a") as file:
        file.write(json.dumps([os.getpid(), entry]) + "\\n")

def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def send(message):
    raw(json.dumps(message).encode() + b"\\n")

READY = {{"type": "ready", "legal": "canonical"}}

def answer(move):
    return {{"id": move["id"], **move["legal"][0]}}

def line(move):
    return json.dumps(answer(move)).encode() + b"\\n"

def on_hello(message): send(READY)
def on_deal(message): pass
def on_move(message): send(answer(message))
def on_result(message): pass
def on_end(): pass

{body}

for text in sys.stdin:
    message = json.loads(text)
    {logging}
    globals().get("on_" + message["type"], lambda message: None)(message)
on_end()
"""


def settings(game: str = "tienlen", players: int = 2, **changes: Any) -> PlaySettings:
    """Fresh deals in a row, whose first is opened by seat 0, unless `changes` say otherwise."""
    rules = {"players": players, **changes.pop("rules", {})}
    if game == "tienlen":
        rules = {"instant_wins": (), **rules}
    values: dict[str, Any] = {
        "game": game,
        "rules": rules,
        "duplicate": 0,
        "deals": 1,
        "target": None,
        "start_ms": 10_000,
        "move_ms": 10_000,
        "bank_ms": 0,
        "on_fault": "forfeit",
        "max_faults": 3,
        "restart": "fault",
        "strict": False,
        "ponder": True,
        "reveal_names": False,
        "memory": 512 << 20,
        "output": 1 << 20,
        "stderr": 1 << 16,
    }
    seed = changes.pop("master_seed", "") or _seed_opened_by_seat_0(game, json.dumps(rules))
    # Changes may lie outside the bounds of configurations.
    return PlaySettings.stored({**values, "master_seed": seed}).with_changes(**changes)


@cache
def _seed_opened_by_seat_0(game: str, rules_text: str) -> str:
    rules = json.loads(rules_text)
    for seed in map(str, count()):
        chosen = settings(game, rules["players"], rules=rules, master_seed=seed)
        book = find_game(game)
        lot = partial(match_seed, seed, 0, 0)
        start = book.first_start(book.options.model_validate(rules), lot, duplicate=False)
        if dealt(chosen, DealKey(0, 0, 0), start).current_player == 0:
            return seed
    raise AssertionError


class RealTable:
    """Bots by seat; each keeps its files in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: list[Tables] = []
        self.bots: list[Bot] = []

    def seat(
        self,
        body: str = "",
        *,
        name: str | None = None,
        command: Sequence[str] | None = None,
        folder: Path | None = None,
        logging: bool = False,
        env: dict[str, str] | None = None,
    ) -> Bot:
        """Seat one more bot.

        Args:
            body: Functions that take the place of a good bot's: `on_move`, say.
            name: Of the bot.
            command: Instead of a body.
            folder: With `command`: where it runs.
            logging: Whether all messages are kept for `log`.
            env: Variables.
        """
        number = len(self.bots)
        home = self._folder / f"bot-{number}"
        home.mkdir()
        frame = _FRAME.format(
            body=body, log=str(home / "log"), logging="log(message)" if logging else ""
        )
        (home / "bot.py").write_text(frame)
        bot = Bot(
            number=number,
            name=name or f"bot {number}",
            command=tuple(command or (sys.executable, "-S", "-E", "bot.py")),
            folder=str(folder or home),
            env=dict(env or {}),
        )
        self.bots.append(bot)
        return bot

    def log(self, seat: int) -> list[tuple[int, Any]]:
        """Return the entries of a bot's log: (process, entry)."""
        file = self._folder / f"bot-{seat}" / "log"
        return [tuple(json.loads(line)) for line in file.read_text().splitlines()]

    def messages(self, seat: int, kind: str) -> list[dict[str, Any]]:
        """All messages of a kind that a logging bot got."""
        return [entry for _, entry in self.log(seat) if entry["type"] == kind]

    def tables(self, chosen: PlaySettings, **options: Any) -> Tables:
        """Tables for these bots; their processes end with the test."""
        opened = Tables(
            chosen,
            self.bots,
            options.pop("launcher", None) or PlainLauncher(),
            WallClock(),
            **{"most_alive": 64, **options},
        )
        self._tables.append(opened)
        return opened

    def play(
        self,
        game: str = "tienlen",
        *,
        retired: tuple[AutoForfeit, ...] = (),
        launcher: Launcher | None = None,
        **changes: Any,
    ) -> list[DealRecord]:
        """Play one match with the bots in the order in which they were seated."""
        chosen = settings(game, len(self.bots), **changes)
        plan = MatchPlan(0, 0, tuple(range(len(self.bots))), retired=retired)
        return list(self.tables(chosen, launcher=launcher).play(plan))

    def close(self, *, politely: bool = False) -> None:
        """End all processes."""
        for opened in self._tables:
            if politely:
                opened.pool.renew()
            opened.pool.kill()
        self._tables.clear()


def only_fault(records: list[DealRecord]) -> FaultRecord:
    """The fault of a single deal with a single fault, by the bot at seat 0, placed last."""
    (record,) = records
    (fault,) = record.faults
    assert fault.seat == 0
    assert record.places[0] == len(record.places)
    return fault
