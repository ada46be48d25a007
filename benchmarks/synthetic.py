"""Tournaments of any size whose deals are drawn instead of played.

The real dispatcher and planner hand out chunks as usual and store the outcomes. Only the executor
is not real. So these are the runner's own costs, and the files are like real ones.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import deque
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.cli.run_progress import make_reporter
from tourney_runner.config import load_config
from tourney_runner.errors import Interrupted
from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.results.records import DealKey, DealRecord, SeatTime
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.run import progress as checkpoint
from tourney_runner.run.dispatcher import Dispatcher
from tourney_runner.run.executor import Executor
from tourney_runner.run.planner import Planner
from tourney_runner.run.progress import Progress, Tally
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.run.tournament_setup import make_format
from tourney_runner.run.worker_process import Chunk, Played

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.run.worker_process import Outcome, Task

__all__ = ["configuration", "dispatched", "fill", "until_first_task"]

BOTS = Path(__file__).parents[1] / "bots"
_MOVES = (
    "A S b f i n . r . z . BEI glo . . . FH wx . . . C T d h j u . . . W c m s . t v . . NO . UV"
    " Za . . R y . . . K M p . . q . . e . k . G Y . . P . Q . J . L X"
)
"""The moves of a usual deal of Tien Len."""


def configuration(folder: Path, bots: int, rounds: int) -> Path:
    """Write the configuration of a tournament of random bots in Tien Len; four rotations a deal."""
    path = folder / "synthetic.yaml"
    document = {
        "game": "tienlen",
        "seed": 1,
        "bots": [
            {"bot": str(BOTS / "random"), "name": f"bot {number}", "trusted": True}
            for number in range(bots)
        ],
        "schedule": {"rounds": rounds},
        "time": {"start": "60s", "move": "60s"},
        "publish": {"replays": 0},  # these deals were not played
    }
    path.write_text(json.dumps(document))
    return path


class _Drawn(Executor):
    """Answers every chunk at once: bots of a lower number are somewhat better."""

    def __init__(
        self, stop_after: int | None, slots: int = 2, seconds_a_deal: float = 0.02
    ) -> None:
        self._slots = slots
        self._seconds = seconds_a_deal
        self.chunks = 0
        self._answers: deque[Played] = deque()
        self._random = random.Random(1)  # noqa: S311 - the same results every time
        self._left = stop_after

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, task: Task) -> None:
        assert isinstance(task, Chunk)
        records = tuple(self._record(match) for match in task.matches)
        self._answers.append(Played(task.number, records, self._seconds * len(records), 0.0))
        self.chunks += 1
        if self._left is not None:
            self._left -= len(records)

    def wait(self, timeout: float) -> list[Outcome]:  # noqa: ARG002 - nothing is waited for
        if self._left is not None and self._left <= 0:
            raise Interrupted("enough", 2)
        return [self._answers.popleft()] if self._answers else []

    def news(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def _record(self, match: MatchPlan) -> DealRecord:
        seats = match.seats()
        luck = self._random.gauss
        order = sorted(range(len(seats)), key=lambda seat: seats[seat] / 50 + luck(0, 2))
        places = [0] * len(seats)
        for place, seat in enumerate(order):
            places[seat] = place + 1
        return DealRecord(
            key=DealKey(match.round, match.match, match.rotation),
            seating=seats,
            start=None,
            moves=_MOVES,
            places=tuple(places),
            points=tuple(float(len(seats) - place) for place in places),
            times=tuple(SeatTime(17, 3_877_455, 1_490_360) for _ in seats),
        )


class _First(_Drawn):
    """Ends the run when the first chunk is handed out."""

    def submit(self, task: Task) -> None:  # noqa: ARG002 - any will do
        raise Interrupted("enough", 2)


def until_first_task(config_path: Path, out: Path) -> float:
    """Return the CPU seconds a continued run takes to find what is missing, after checking bots.

    Args:
        config_path: The configuration.
        out: A folder that `fill` filled, with something left to be played.
    """
    began = time.process_time()
    _play(config_path, out, lambda _: _First(None))
    return time.process_time() - began


def fill(config_path: Path, out: Path, *, but: int = 0) -> int:
    """Fill a folder in which the tournament was begun; return the number of deals it holds then.

    Args:
        config_path: The configuration, maybe with more rounds than were begun with.
        out: The folder.
        but: The approximate number of deals to leave.
    """
    return _play(config_path, out, lambda left: _Drawn(left - but if but else None))


def dispatched(
    config_path: Path, out: Path, *, slots: int, seconds_a_deal: float
) -> tuple[int, int]:
    """Let stub workers answer for what is missing; return the numbers of chunks and deals.

    Args:
        config_path: The configuration.
        out: A folder in which the tournament was begun.
        slots: The number of workers.
        seconds_a_deal: The time that a deal seems to take, which decides the size of chunks.
    """
    with closing(Store(out / FILE_NAME)) as store:
        before = store.count()
    workers = _Drawn(None, slots, seconds_a_deal)
    after = _play(config_path, out, lambda _: workers)
    return workers.chunks, after - before


def _play(config_path: Path, out: Path, executor: Callable[[int], Executor]) -> int:
    """Play what is missing; return the number of deals in the folder then."""
    config = load_config(config_path)
    names = tuple(bot.name for bot in config.entrants)
    with (
        StopSignals() as signals,
        ResultsFolder(out) as folder,
        closing(Store(folder.database, create=True)) as store,
    ):
        seed = store.tournament().seed
        planner = Planner(make_format(config, seed, names), store, config.match.duplicate)
        total = planner.total()
        assert total is not None
        progress = Progress(total, [Tally(name) for name in names])
        checkpoint.take_up(store, planner, progress)
        conductor = Dispatcher(executor(total - store.count()), signals, make_reporter())
        with suppress(Interrupted):
            conductor.play(planner, store, folder, progress)
        return store.count()


if __name__ == "__main__":
    print(fill(Path(sys.argv[1]), Path(sys.argv[2]), but=int(sys.argv[3])))
    assert Path(sys.argv[2], FILE_NAME).exists()
