"""Failed tasks, and whether the Dask worker, its machine or the task itself is to blame.

One overloaded machine may have many Dask workers that fail at everything. So a task is to blame
only once it has failed on several machines, or on all that there are.
"""

from __future__ import annotations

from collections import Counter

__all__ = ["TRIES", "Failures"]

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
