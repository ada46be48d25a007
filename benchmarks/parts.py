"""The runner's processor time of a move, by part of the program.

Four trivial C bots play Tien Len, all on one core with the runner; a timer interrupts it after so
much of its processor time, and what it was at then counts: no part is slowed by being measured.
Shares are as exact as a poll of so many samples. ``bookkeeping`` is the rest: who pays for time,
ids, events, the record. Figures with ``_ratio`` are multiples of one JSON round trip of a request
in the same run.
"""

from __future__ import annotations

import linecache
import os
import signal
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import tourney_runner.games
from figures import report, yardstick
from moves import build, play, settings
from tourney_runner.play import deal, player
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables
from tourney_runner.process import channel
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.protocol import lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType

INTERVAL = 0.001
"""Seconds of processor time; the system may make more of it."""
PARTS = ("encode", "write", "wait", "read", "decode", "rules", "bookkeeping")
_RULES = str(Path(tourney_runner.games.__file__).parent)
_CALLS = (
    (deal.__file__, "encode", "encode"),
    (deal.__file__, "Move(", "encode"),
    (channel.__file__, "write(self._stdin", "write"),
    (channel.__file__, "_wait_for_answer(", "wait"),
    (channel.__file__, ".poll(", "wait"),
    (channel.__file__, "sched_yield(", "wait"),
    (channel.__file__, "read(self._stdout", "read"),
    (player.__file__, "decode(line)", "decode"),
)
"""By file and what stands in the line."""

Stack = tuple[tuple[str, int], ...]
"""Files and lines, innermost first."""


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    unit = yardstick()
    stacks: Counter[Stack] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder)
        bots = [Bot(number=n, name=f"bot {n}", command=(path,), folder=folder) for n in range(4)]
        tables = Tables(settings(), bots, PlainLauncher(), make_clock("fair"), most_alive=4)
        try:
            play(tables, 0, 1)  # the bots start
            with _sampling(stacks):
                moves, _, cpu = play(tables, 1, arguments.matches)
        finally:
            tables.pool.kill()
    whole = cpu / moves * 1e6
    samples: Counter[str] = Counter()
    for stack, times in stacks.items():
        samples[_part(stack)] += times
    shares = {part: samples[part] / max(1, samples.total()) for part in PARTS}
    costs = {"move": whole, **{part: share * whole for part, share in shares.items()}}
    return {
        "json_round_trip_us": unit,
        "samples": samples.total(),
        **{f"{part}_us": cost for part, cost in costs.items()},
        **{f"{part}_ratio": cost / unit for part, cost in costs.items()},
    }


@contextmanager
def _sampling(stacks: Counter[Stack]) -> Iterator[None]:
    def sample(_signal: int, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            stack.append((frame.f_code.co_filename, frame.f_lineno or 0))
            frame = frame.f_back
        stacks[tuple(stack)] += 1

    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _part(stack: Stack) -> str:
    """Return the part of the innermost place that belongs to any part."""
    for file, number in stack:
        if file.startswith(_RULES):
            return "rules"
        if file == lines.__file__:
            return "decode"
        line = linecache.getline(file, number)
        for of, text, part in _CALLS:
            if file == of and text in line:
                return part
    return "bookkeeping"


if __name__ == "__main__":
    report(measure, __doc__ or "", matches=2000)
