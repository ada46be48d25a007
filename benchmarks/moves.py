"""What a move costs the runner, against a bare poll loop with the same messages.

Four trivial C bots play Tien Len, all on one core with the runner. First a worker plays and its
requests are kept; then a loop of write, poll and read sends the same requests to the same bots.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runner.games.registry import game
from runner.play.match import Tables
from runner.play.settings import BotSpec, MatchPlan, PlaySettings
from runner.process.channel import Channel
from runner.process.fair import make_clock
from runner.process.launcher import PlainLauncher

HERE = Path(__file__).parent


def build(folder: str) -> str:
    """Compile the trivial bot."""
    path = f"{folder}/bot"
    subprocess.run(["gcc", "-O2", "-o", path, HERE / "trivial" / "bot.c"], check=True)
    return path


def settings() -> PlaySettings:
    """Default rules, duplicate deals, no legal lists."""
    return PlaySettings(
        game="tienlen",
        rules=game("tienlen").options().in_force(),
        master_seed="benchmark",
        duplicate=4,
        deals=None,
        target=None,
        start_ms=10_000,
        move_ms=10_000,
        bank_ms=0,
        on_fault="forfeit",
        max_faults=3,
        restart="fault",
        strict=False,
        ponder=False,
        reveal_names=False,
        memory=512 << 20,
        processes=32,
        file_size=1 << 20,
        temp=1 << 20,
        output=1 << 20,
        stderr=64 << 10,
    )


def cpu() -> float:
    """CPU seconds of this process, kernel included, children not."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def play(tables: Tables, first: int, matches: int) -> tuple[int, float, float]:
    """Play; gives moves, seconds and CPU seconds."""
    moves, began, used = 0, time.perf_counter(), cpu()
    for match in range(first, first + matches):
        for record in tables.play(MatchPlan(0, match, (0, 1, 2, 3))):
            assert not record.faults, record.faults
            moves += sum(seat.moves for seat in record.times)
    return moves, time.perf_counter() - began, cpu() - used


def recorded(tables: Tables, matches: int) -> list[tuple[int, bytes]]:
    """The requests of some matches, with the number of the bot that each went to."""
    requests: list[tuple[int, bytes]] = []
    numbers: dict[int, int] = {}
    exchange = Channel.exchange

    def keep(channel: Channel, payload: bytes, asked: int, patience: int) -> bytes:
        number = numbers.setdefault(id(channel), len(numbers))
        requests.append((number, payload))
        return exchange(channel, payload, asked, patience)

    Channel.exchange = keep  # type: ignore[method-assign]
    try:
        play(tables, 0, matches)
    finally:
        Channel.exchange = exchange  # type: ignore[method-assign]
    return requests


def bare_loop(path: str, requests: list[tuple[int, bytes]]) -> tuple[float, float]:
    """Send the same bytes with nothing around it; gives seconds and CPU seconds."""
    bots = [
        subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for _ in range(4)
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


def measure(matches: int) -> dict[str, float]:
    """All figures of one run."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder)
        bots = [BotSpec(number, f"bot {number}", (path,), folder) for number in range(4)]
        tables = Tables(settings(), bots, PlainLauncher(), make_clock("fair"), most_alive=4)
        requests = recorded(tables, max(1, matches // 5))
        hellos = 4  # the first payload of each process
        requests = requests[hellos:]
        played = [play(tables, 1000 + part * matches, matches // 5) for part in range(5)]
        looped = [bare_loop(path, requests) for _ in range(5)]
        tables.pool.kill()
    moves, seconds, spent = sorted(played, key=lambda run: run[1] / run[0])[2]
    loop_seconds, loop_spent = sorted(looped)[2]
    own, bare = seconds / moves * 1e6, loop_seconds / len(requests) * 1e6
    return {
        "runner_us_a_move": own,
        "runner_cpu_us_a_move": spent / moves * 1e6,
        "bare_loop_us_a_move": bare,
        "bare_loop_cpu_us_a_move": loop_spent / len(requests) * 1e6,
        "time_ratio": own / bare,
        "speed_share": bare / own,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.matches)
    if arguments.json:
        json.dump(figures, sys.stdout, indent=2)
        return
    for name, value in figures.items():
        print(f"{name:28} {value:8.2f}")


if __name__ == "__main__":
    main()
