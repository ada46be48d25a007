"""Where tasks wait for somebody to do them, and who does them waits for tasks."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from tourney_runner.run.worker_messages import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.run.worker_messages import Task

__all__ = ["TaskQueue"]


class TaskQueue:
    """Hands each task to the place whose lane it is of, else to any that has nothing to do.

    A place plays one match at a time; see `run.affinity` for what lanes are. No task waits
    for its own place while another is idle: a renewal of bots costs less than an idle core.
    """

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._places: set[int] = set()
        self._idle: dict[int, asyncio.Future[Task]] = {}

    @property
    def places(self) -> int:
        """How many places there are."""
        return len(self._places)

    @contextmanager
    def place(self) -> Iterator[int]:
        """Have one place more, as long as this lasts; gives its lane, the lowest that is free."""
        lane = next(number for number in count() if number not in self._places)
        self._places.add(lane)
        try:
            yield lane
        finally:
            self._places.discard(lane)

    def put(self, task: Task) -> None:
        """Have a task done."""
        lane = _lane(task)
        # A place that has just been dismissed stands there until its own code has run.
        waiting = [idle for idle, handed in self._idle.items() if not handed.done()]
        if not waiting:
            self._tasks.append(task)
        else:
            self._idle.pop(lane if lane in waiting else waiting[0]).set_result(task)

    async def take(self, lane: int) -> Task:
        """The next task for a place, as soon as there is one."""
        if self._tasks:
            own = (at for at, task in enumerate(self._tasks) if _lane(task) == lane)
            return self._tasks.pop(next(own, 0))
        handed: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._idle[lane] = handed
        try:
            return await handed
        except asyncio.CancelledError:
            self._idle.pop(lane, None)
            if not handed.cancelled():  # it was handed over, but nobody is here to take it
                self.put(handed.result())
            raise


def _lane(task: Task) -> int | None:
    return task.lane if isinstance(task, Chunk) else None
