"""The memory of a worker by number of deals, with its bots apart (MiB).

A worker program plays chunks with four trivial C bots. What matters is that the figures stay the
same from one number of deals to the next; the parent's are in results.py.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from figures import report
from moves import build, settings
from tourney_runner import __version__
from tourney_runner.play.bot import Bot
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.process.process_tree import descendants
from tourney_runner.process.procfs import resident_bytes
from tourney_runner.run.worker_process import Chunk, Played, Setup, WorkerProgram, task_frame

if TYPE_CHECKING:
    import argparse

CHUNK = 100


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder)
        bots = tuple(
            Bot(number=n, name=f"bot {n}", command=(path,), folder=folder) for n in range(4)
        )
        setup = Setup(
            version=__version__,
            settings=settings(),
            bots=bots,
            sandbox="limits",
            build_network=False,
            clock="fair",
            most_alive=4,
        )
        program = WorkerProgram(setup)
        shown = CHUNK
        for first in range(0, arguments.deals, CHUNK):
            _play(program, first)
            if first + CHUNK == shown:
                own = resident_bytes(program.pid) / 2**20
                below = sum(map(resident_bytes, descendants(program.pid))) / 2**20
                figures[f"{shown}_deals_worker_mib"] = own
                figures[f"{shown}_deals_bots_mib"] = below
                shown *= 10
        program.finish()
        program.end(5.0)
    return figures


def _play(program: WorkerProgram, first: int) -> None:
    matches = tuple(MatchPlan(0, n, (0, 1, 2, 3)) for n in range(first, first + CHUNK))
    program.write(task_frame(Chunk(first + 1, matches)))
    while True:
        outcomes = program.read()
        assert outcomes is not None, "the worker has ended"
        if any(isinstance(outcome, Played) for outcome in outcomes):  # others: it is alive
            return


if __name__ == "__main__":
    report(measure, __doc__ or "", deals=10_000)
