"""The interface between a tournament and the workers that play it, here or on a cluster."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from importlib.util import find_spec
from textwrap import indent
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError, UsageError
from tourney_runner.run.worker_process import Broken

if TYPE_CHECKING:
    from tourney_runner.run.worker_process import Outcome, Task

__all__ = ["Executor", "cluster_address", "raise_if_broken"]

_VARIABLE = "DASK_SCHEDULER_ADDRESS"


def raise_if_broken(outcome: Outcome) -> None:
    """Raise the error of a worker that failed.

    Raises:
        RunError: The outcome is such an error.
    """
    if isinstance(outcome, Broken) and outcome.cause:
        raise RunError(f"{outcome.cause}. What was stored before is safe.")
    if isinstance(outcome, Broken):
        raise RunError(
            "a worker failed; this is a bug of tourney, please report it. What was stored before is"
            f" safe.\n{indent(outcome.traceback, '  ')}"
        )


class Executor(ABC):
    """Workers that do tasks in any order, each at least once; the store counts each once."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """The number of tasks that can be open at once; it may change at any time.

        At least one, unless `resize` has paused the run.
        """

    def resize(self, workers: int) -> None:
        """Change the number of workers; surplus workers finish their tasks first.

        Args:
            workers: The number, 0 for a pause: then `slots` is 0 too.

        Raises:
            NotImplementedError: The number cannot be changed; see `can_resize`.
        """
        raise NotImplementedError

    @property
    def can_resize(self) -> bool:
        """Whether `resize` is implemented."""
        return False

    @property
    def workers(self) -> int:
        """The number of workers, including those that are about to end."""
        return self.slots

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Hand out a task; at most `slots` may be open."""

    @abstractmethod
    def wait(self, timeout: float) -> list[Outcome]:
        """Wait for outcomes and return them, possibly none.

        Raises:
            RunError: The tasks cannot be done.
        """

    @abstractmethod
    def news(self) -> list[str]:
        """Return new lines for the user about the workers."""

    @abstractmethod
    def close(self) -> None:
        """End the workers and their bots politely; no task may be open."""

    @abstractmethod
    def kill(self) -> None:
        """End the workers and their bots at once; open tasks are void."""


def cluster_address(option: str | None, executor: str) -> str | None:
    """Return the address of the Dask scheduler to play on, or ``local``; None for no cluster.

    Args:
        option: The value of ``--dask``, which comes first.
        executor: ``local`` or ``dask``, as configured. ``dask`` alone takes the scheduler that
            ``DASK_SCHEDULER_ADDRESS`` names, else a cluster of its own on this machine.

    Raises:
        UsageError: Dask is not installed.
    """
    if option is None and executor == "local":
        return None
    if find_spec("distributed") is None:
        raise UsageError(
            "playing on a cluster needs Dask, here and on every machine of the cluster: pip install"
            " '.[dask]' in a checkout of tourney, pip install 'tourney-runner[dask]' without one"
        )
    return option or os.environ.get(_VARIABLE) or "local"
