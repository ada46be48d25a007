"""What a bot answered to the requests of a stored deal, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.replay.refeed import Compared

__all__ = ["difference_lines", "summary_line"]


def difference_lines(one: Compared) -> Iterator[str]:
    """A request to which the bot answered otherwise."""
    yield f"move {one.move}:"
    yield f"  request: {escaped(one.request.decode().rstrip(), 4000)}"
    yield f"  then:    {_answer(one.stored, one.failed)}"
    yield f"  now:     {_answer(one.given, one.fault)}"


def summary_line(compared: Sequence[Compared], name: str) -> str:
    """How often that was."""
    if not compared:
        return f"{name} was never asked in this deal"
    differ = sum(not one.same for one in compared)
    if not differ:
        return f"all {len(compared)} answers are the same as those of {name}"
    return f"{differ} of {len(compared)} answers differ from those of {name}"


def _answer(fields: dict[str, Any] | None, fault: str) -> str:
    return escaped(fault, 600) if fields is None else json.dumps(fields)
