"""The cost of a move for the runner, against a bare poll loop with the same messages.

Trivial C bots play, all on one core with the runner: four of them Tien Len, fourteen Speahx. A loop
of write, poll and read sends the same requests to the same bots. Machines change their pace within
a second, so both take turns in short stretches, and a ratio is the median over pairs of neighbours.
Then the same deals are played with and without lists of legal plays.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from figures import report
from tourney_runner.config.models import RunConfig
from tourney_runner.games.registry import game
from tourney_runner.play.bot import Bot
from tourney_runner.play.legal_cache import LegalLists
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.play_settings import MatchConfig, PlaySettings, TimeConfig
from tourney_runner.process import channel
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.run.tournament_setup import make_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

HERE = Path(__file__).parent


def build(folder: str) -> str:
    """Compile the trivial bot."""
    path = f"{folder}/bot"
    subprocess.run(["gcc", "-O2", "-o", path, HERE / "trivial" / "bot.c"], check=True)
    return path


def settings(name: str = "tienlen", players: int = 4) -> PlaySettings:
    """Return the settings of duplicate deals under the default rules."""
    config = RunConfig(time=TimeConfig(move_ms=10_000))
    rules = game(name).options(players=players).in_force()
    return make_settings(name, rules, "benchmark", MatchConfig(duplicate=players), config)


def cpu() -> float:
    """Return the CPU seconds of this process, with the kernel's and without those of children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def play(tables: Tables, first: int, matches: int, players: int = 4) -> tuple[int, float, float]:
    """Play matches; return moves, seconds and CPU seconds."""
    moves, began, used = 0, time.perf_counter(), cpu()
    for match in range(first, first + matches):
        for record in tables.play(MatchPlan(0, match, tuple(range(players)))):
            assert not record.faults, record.faults
            moves += sum(seat.moves for seat in record.times)
    return moves, time.perf_counter() - began, cpu() - used


@contextmanager
def recording(requests: list[tuple[int, bytes]], answers: list[bytes]) -> Iterator[None]:
    """Keep all requests, with the number of the bot that gets each, and all answers."""
    numbers: dict[int, int] = {}
    write, read = channel.write, channel.read

    def keep_request(pipe: int, payload: bytes) -> int:
        requests.append((numbers.setdefault(pipe, len(numbers)), payload))
        return write(pipe, payload)

    def keep_answer(pipe: int, most: int) -> bytes:
        answers.append(line := read(pipe, most))
        return line

    channel.write, channel.read = keep_request, keep_answer
    try:
        yield
    finally:
        channel.write, channel.read = write, read


def bare_loop(command: tuple[str, ...], requests: list[tuple[int, bytes]]) -> tuple[float, float]:
    """Send the same bytes with nothing around it; return seconds and CPU seconds."""
    bots = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for _ in {number for number, _ in requests}
    ]
    pipes = []
    for bot in bots:
        poll = select.poll()
        poll.register(bot.stdout.fileno(), select.POLLIN)
        pipes.append((bot.stdin.fileno(), bot.stdout.fileno(), poll))
        os.write(bot.stdin.fileno(), b'{"type":"hello"}\n')
        os.read(bot.stdout.fileno(), 65536)
    began, used = time.perf_counter(), cpu()
    for number, payload in requests:
        stdin, stdout, poll = pipes[number]
        os.write(stdin, payload)
        poll.poll(10_000)
        os.read(stdout, 65536)
    seconds, spent = time.perf_counter() - began, cpu() - used
    for bot in bots:
        bot.stdin.close()
        bot.stdout.close()
        bot.wait()
    return seconds, spent


@dataclass(frozen=True)
class Case:
    """A table to measure."""

    game: str
    players: int
    matches: int
    """In one stretch."""


CASES = {"tienlen": Case("tienlen", 4, 8), "speahx_14": Case("speahx", 14, 2)}


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder)
        for name, case in CASES.items():
            measured = _measure(case, (path,), folder, arguments.stretches)
            figures |= {f"{name}_{what}": figure for what, figure in measured.items()}
        return figures | _lists(path, folder, arguments.stretches)


def _measure(case: Case, command: tuple[str, ...], folder: str, stretches: int) -> dict[str, float]:
    bots = [
        Bot(number=n, name=f"bot {n}", command=command, folder=folder) for n in range(case.players)
    ]
    clock = make_clock("fair")
    rules = settings(case.game, case.players)
    tables = Tables(rules, bots, PlainLauncher(), clock, most_alive=case.players)
    requests: list[tuple[int, bytes]] = []
    try:
        play(tables, 0, 1, case.players)  # the bots start
        with recording(requests, []):
            play(tables, 1, case.matches, case.players)
        pairs = []
        for stretch in range(stretches):
            bare = bare_loop(command, requests)
            first = 1000 + stretch * case.matches
            pairs.append((play(tables, first, case.matches, case.players), bare))
    finally:
        tables.pool.kill()
    us = 1e6
    runner = [(seconds / moves * us, spent / moves * us) for (moves, seconds, spent), _ in pairs]
    bare = [(seconds / len(requests) * us, cpu / len(requests) * us) for _, (seconds, cpu) in pairs]
    return {
        "us_a_move": median(time for time, _ in runner),
        "cpu_us_a_move": median(spent for _, spent in runner),
        "least_cpu_us_a_move": min(spent for _, spent in runner),
        "bare_loop_us_a_move": median(time for time, _ in bare),
        "bare_loop_cpu_us_a_move": median(spent for _, spent in bare),
        "time_ratio": median(own[0] / loop[0] for own, loop in zip(runner, bare, strict=True)),
    }


@contextmanager
def _without_lists(answers: list[bytes]) -> Iterator[None]:
    """Ask the bots as usual, but list nothing, and use these answers instead of theirs."""
    read, listed, given = channel.read, LegalLists.list, iter(answers)

    def scripted(pipe: int, most: int) -> bytes:
        read(pipe, most)
        return next(given)

    channel.read = scripted
    LegalLists.list = lambda *_: (None, True)  # type: ignore[method-assign]
    try:
        yield
    finally:
        channel.read = read
        LegalLists.list = listed  # type: ignore[method-assign]


def _lists(path: str, folder: str, stretches: int) -> dict[str, float]:
    """Return the cost of listing legal plays: the same deals and moves with lists and without."""
    bots = [Bot(number=n, name=f"bot {n}", command=(path, "all"), folder=folder) for n in range(4)]
    tables = Tables(settings(), bots, PlainLauncher(), make_clock("fair"), most_alive=4)
    matches, costs = 8, []
    try:
        play(tables, 0, 1)  # the bots start
        for first in range(1000, 1000 + stretches * matches, matches):
            answers: list[bytes] = []
            with recording([], answers):
                play(tables, first, matches)
            moves, _, listing = play(tables, first, matches)
            with _without_lists(answers):
                _, _, plain = play(tables, first, matches)
            costs.append((listing - plain) / moves * 1e6)
    finally:
        tables.pool.kill()
    return {"listing_legal_plays_cpu_us_a_move": median(costs)}


if __name__ == "__main__":
    report(measure, __doc__ or "", stretches=40)
