"""The seam between a tournament and whatever plays its matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from textwrap import indent
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError
from tourney_runner.run.worker_messages import Broken

if TYPE_CHECKING:
    from tourney_runner.run.worker_messages import Outcome, Task

__all__ = ["Executor", "raise_if_broken"]


def raise_if_broken(outcome: Outcome) -> None:
    """Stop the run because of a worker that failed.

    Raises:
        RunError: It did.
    """
    if isinstance(outcome, Broken):
        raise RunError(
            "a worker failed; this is a bug of tourney, please report it. What was stored before is"
            f" safe.\n{indent(outcome.traceback, '  ')}"
        )


class Executor(ABC):
    """Does tasks, in any order, each at least once; the store sees to it that each counts once."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many tasks can be under way at once, at least one; it may change at any time."""

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Hand out a task; at most `slots` may be open."""

    @abstractmethod
    def wait(self, timeout: float) -> list[Outcome]:
        """What has come back within so many seconds, maybe nothing.

        Raises:
            RunError: The tasks cannot be done.
        """

    @abstractmethod
    def news(self) -> list[str]:
        """Lines about the workers that the user should read, each given once."""

    @abstractmethod
    def close(self) -> None:
        """End the workers and their bots politely; no task may be open."""

    @abstractmethod
    def kill(self) -> None:
        """End the workers and their bots at once; open tasks are void."""
