"""Conducts tournaments of very many deals that cost no time, and prints the memory it took.

A program of its own, since memory is what a whole process holds: the folder of results, then
numbers of rounds, each of which continues the one before.
"""

from __future__ import annotations

import re
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.results.records import DealKey, DealRecord, SeatTime
from tourney_runner.results.store import Store
from tourney_runner.run import progress as checkpoint
from tourney_runner.run.dispatcher import Dispatcher
from tourney_runner.run.executor import Executor
from tourney_runner.run.planner import Planner
from tourney_runner.run.progress import Progress, Reporter, Tally
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.run.worker_process import Chunk, Played
from tourney_runner.schedule.base import Field
from tourney_runner.schedule.round_robin import RoundRobin, RoundRobinOptions

if TYPE_CHECKING:
    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.run.worker_process import Outcome, Task

NAMES = [f"bot {number}" for number in range(8)]
PLAYERS = 4
MOVES = " ".join(["3S"] * 60)


class AtOnce(Executor):
    """Workers that need no time."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []

    @property
    def slots(self) -> int:
        return 2

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def wait(self, timeout: float) -> list[Outcome]:  # noqa: ARG002 - nothing takes time
        tasks, self._tasks = self._tasks, []
        return [
            Played(task.number, tuple(map(_record, task.matches)), seconds=0.01, cpu=0.0)
            for task in tasks
            if isinstance(task, Chunk)
        ]

    def news(self) -> list[str]:
        return []

    def close(self) -> None:
        self._tasks.clear()

    kill = close


def _record(plan: MatchPlan) -> DealRecord:
    return DealRecord(
        key=DealKey(plan.round, plan.match, plan.rotation),
        seating=plan.seats(),
        start=None,
        moves=MOVES,
        places=(1, 2, 3, 4),
        points=(3.0, 2.0, 1.0, 0.0),
        times=(SeatTime(15, 1000, 100),) * PLAYERS,
    )


class Silent(Reporter):
    """Tells nobody."""

    def say(self, line: str) -> None: ...

    def begin(self, progress: Progress) -> None: ...

    def update(self, progress: Progress) -> None: ...

    def end(self) -> None: ...

    def so_far(self, progress: Progress) -> None: ...


def conduct(rounds: int, store: Store, folder: ResultsFolder) -> None:
    field = Field(entrants=len(NAMES), players=PLAYERS, seed=1)
    planner = Planner(RoundRobin(field, RoundRobinOptions(rounds=rounds)), store, PLAYERS)
    progress = Progress(planner.total(), [Tally(name) for name in NAMES])
    checkpoint.take_up(store, planner, progress)
    Dispatcher(AtOnce(), StopSignals(), Silent()).play(planner, store, folder, progress)
    deals = store.count()
    if not deals == progress.done == progress.total:
        sys.exit(f"{deals} deals are stored, {progress.done} of {progress.total} are counted")
    # Not ru_maxrss: that begins with what the parent had, a test worker of any size.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(deals, int(peak) // 1024)  # noqa: T201


with (
    ResultsFolder(Path(sys.argv[1])) as results,
    closing(Store(results.database, create=True)) as database,
):
    results.begin()
    for number in sys.argv[2:]:
        conduct(int(number), database, results)
