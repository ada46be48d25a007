"""The cost of a move in games of OpenSpiel through the same runner, and in python-chess's own loop.

The trivial C bot plays Tien Len, Speahx, and OpenSpiel's `crazy_eights` and `dou_dizhu`: it takes
the first legal play of the canonical list, so every case has its list written and read.
python-chess plays two trivial UCI engines, with its check of each move. All cases take turns in
short stretches on one core; a ratio is the median over neighbours, against Tien Len. Needs
`pip install '.[openspiel,benchmarks]'`; cases whose package is missing are left out.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from figures import report
from moves import HERE, build, cpu, play, settings
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    import argparse

    Stretch = tuple[int, float, float]
    """Moves, seconds, and CPU seconds of this process."""

REFERENCE = "tienlen"
_PLIES_OF_GAME = 80


class Peer(Protocol):
    """Something that plays moves of trivial programs."""

    def play(self, stretch: int) -> Stretch:
        """Play for some ten milliseconds or more."""

    def close(self) -> None:
        """End all programs."""


class Case(NamedTuple):
    """A table of the runner to measure."""

    game: str
    players: int
    matches: int
    """The number of matches in one stretch."""


CASES = {
    REFERENCE: Case("tienlen", 4, 4),
    "speahx": Case("speahx", 4, 2),
    "openspiel_crazy_eights": Case("openspiel/crazy_eights", 4, 1),
    "openspiel_dou_dizhu": Case("openspiel/dou_dizhu", 3, 4),
}


class Runner:
    """This runner with trivial bots at one table."""

    def __init__(self, case: Case, bot: str, folder: str) -> None:
        self._case = case
        bots = [
            Bot(number=number, name=f"bot {number}", command=(bot, "canonical"), folder=folder)
            for number in range(case.players)
        ]
        rules = settings(case.game, case.players)
        self._tables = Tables(
            rules, bots, PlainLauncher(), make_clock("fair"), most_alive=case.players
        )

    def play(self, stretch: int) -> Stretch:
        """Play the matches of a stretch."""
        case = self._case
        return play(self._tables, stretch * case.matches, case.matches, case.players)

    def close(self) -> None:
        """End the bots."""
        self._tables.pool.kill()


class PythonChess:
    """The loop of python-chess's documentation, with an engine for each side."""

    def __init__(self, engine: str) -> None:
        import chess.engine  # noqa: PLC0415 - it may be missing

        self._chess = chess
        self._limit = chess.engine.Limit(time=10)
        self._engines = [chess.engine.SimpleEngine.popen_uci(engine) for _ in range(2)]

    def play(self, stretch: int) -> Stretch:
        """Play one game."""
        began, used, board = time.perf_counter(), cpu(), self._chess.Board()
        for ply in range(_PLIES_OF_GAME):
            answer = self._engines[ply % 2].play(board, self._limit, game=stretch)
            board.push(answer.move)
        return _PLIES_OF_GAME, time.perf_counter() - began, cpu() - used

    def close(self) -> None:
        """End the engines."""
        for engine in self._engines:
            engine.quit()


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        peers = _peers(folder)
        measured: dict[str, list[Stretch]] = {name: [] for name in peers}
        try:
            for stretch in range(arguments.stretches + 1):
                for name, peer in peers.items():
                    measured[name].append(peer.play(stretch))
        finally:
            for peer in peers.values():
                peer.close()
    figures: dict[str, float] = {}
    costs = {name: [used / moves for moves, _, used in found[1:]]  # the programs start in the first
             for name, found in measured.items()}  # fmt: skip
    for name, found in measured.items():
        figures[f"{name}_moves_a_second"] = median(moves / took for moves, took, _ in found[1:])
        figures[f"{name}_cpu_us_a_move"] = median(costs[name]) * 1e6
        pairs = zip(costs[name], costs[REFERENCE], strict=True)
        figures[f"{name}_cpu_ratio"] = median(own / reference for own, reference in pairs)
    return figures


def _peers(folder: str) -> dict[str, Peer]:
    bot = build(folder)
    peers: dict[str, Peer] = {
        name: Runner(case, bot, folder)
        for name, case in CASES.items()
        if not case.game.startswith("openspiel/") or find_spec("pyspiel")
    }
    if find_spec("chess"):
        engine = f"{folder}/engine"
        source = HERE / "trivial" / "engine.c"
        subprocess.run(["gcc", "-O2", "-o", engine, source], check=True)
        peers["python_chess"] = PythonChess(engine)
    return peers


if __name__ == "__main__":
    report(measure, __doc__ or "", stretches=20)
