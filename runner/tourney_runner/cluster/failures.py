"""Whose fault is it that a task fails: the Dask worker's, its machine's, or the task's own?

One overloaded machine may have many Dask workers that fail at everything. So a task is to blame
only once it has failed on several machines, or on all that there are.
"""

from __future__ import annotations

from collections import Counter

__all__ = ["TRIES", "Failures"]

TRIES = 3
"""What has failed so often is not tried again."""


class Failures:
    """Where each task has failed, until somebody does it."""

    def __init__(self) -> None:
        self._by_task: dict[int, Counter[tuple[str, str]]] = {}

    def add(self, task: int, machine: str, worker: str) -> int:
        """A task, by its number, has failed; gives how often it has at this Dask worker."""
        failures = self._by_task.setdefault(task, Counter())
        failures[machine, worker] += 1
        return failures[machine, worker]

    def forget(self, task: int) -> None:
        """It was done."""
        self._by_task.pop(task, None)

    def show_bad_task(self, task: int, machines: int) -> bool:
        """Whether a task fails wherever it is tried.

        Args:
            task: Its number.
            machines: How many there are now.
        """
        places = self._by_task[task]
        failing = {machine for machine, _ in places}
        return len(places) >= TRIES and len(failing) >= min(TRIES, machines)
