"""What a worker is at, in words for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.run.worker_messages import Chunk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tourney_runner.run.worker_messages import Task

__all__ = ["doing"]


def doing(task: Task, names: Mapping[int, str]) -> str:
    """A task, to follow the word *while*.

    Args:
        task: What the worker was given.
        names: Of the bots, by number.
    """
    if not isinstance(task, Chunk):
        return f"starting the bot {names[task.entrant]!r} to check it"
    first, *others = task.matches
    seated = ", ".join(names[entrant] for entrant in first.seating)
    more = f" and {len(others)} more" if others else ""
    return f"playing round {first.round + 1}, match {first.match + 1} ({seated}){more}"
