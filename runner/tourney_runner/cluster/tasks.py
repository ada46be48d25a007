"""The tasks of a cluster: a queue of them, and the blame for those that fail.

One overloaded machine may have many Dask workers that fail at everything. So a task is to blame
only once it has failed on several machines, or on all that there are.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from tourney_runner.run.worker_process import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.run.worker_process import Task

__all__ = ["TRIES", "Failures", "TaskQueue"]


class TaskQueue:
    """A queue that gives each task to the place of its lane, else to any idle place.

    A place plays one match at a time; see `run.lanes` for lanes. No task waits
    for its own place while another is idle: a renewal of bots costs less than an idle core.
    """

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._places: set[int] = set()
        self._idle: dict[int, asyncio.Future[Task]] = {}

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self._places)

    @contextmanager
    def place(self) -> Iterator[int]:
        """Add a place for the duration of the context; yield its lane, the lowest free one."""
        lane = next(number for number in count() if number not in self._places)
        self._places.add(lane)
        try:
            yield lane
        finally:
            self._places.discard(lane)

    def put(self, task: Task) -> None:
        """Add a task, or give it to an idle place."""
        lane = _lane(task)
        # A cancelled place stays in `_idle` until its own code has run.
        waiting = [idle for idle, handed in self._idle.items() if not handed.done()]
        if not waiting:
            self._tasks.append(task)
        else:
            self._idle.pop(lane if lane in waiting else waiting[0]).set_result(task)

    async def take(self, lane: int) -> Task:
        """Wait for the next task of a place."""
        if self._tasks:
            own = (at for at, task in enumerate(self._tasks) if _lane(task) == lane)
            return self._tasks.pop(next(own, 0))
        handed: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._idle[lane] = handed
        try:
            return await handed
        except asyncio.CancelledError:
            self._idle.pop(lane, None)
            if not handed.cancelled():  # it was handed over, but the place is gone
                self.put(handed.result())
            raise


def _lane(task: Task) -> int | None:
    return task.lane if isinstance(task, Chunk) else None


TRIES = 3
"""The number of failures after which nothing is tried again."""


class Failures:
    """The places where each unfinished task has failed."""

    def __init__(self) -> None:
        self._by_task: dict[int, Counter[tuple[str, str]]] = {}

    def add(self, task: int, machine: str, worker: str) -> int:
        """Count the failure of a task; return its number of failures at this Dask worker."""
        failures = self._by_task.setdefault(task, Counter())
        failures[machine, worker] += 1
        return failures[machine, worker]

    def forget(self, task: int) -> None:
        """Forget a task that is done."""
        self._by_task.pop(task, None)

    def show_bad_task(self, task: int, machines: int) -> bool:
        """Return whether a task fails wherever it is tried.

        Args:
            task: Its number.
            machines: The number of machines now.
        """
        places = self._by_task[task]
        failing = {machine for machine, _ in places}
        return len(places) >= TRIES and len(failing) >= min(TRIES, machines)
