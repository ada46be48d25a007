"""The report of a bot's answers to the requests of a stored deal, as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.replay.refeed import Compared

__all__ = ["Differences", "summary_line"]

_LONG = 4000
"""The number of characters of a line that are shown."""


class Differences:
    """Lines about the requests to which a bot answered differently.

    A bot often fails in the same way many times over, so an stderr that was shown is not repeated.
    """

    def __init__(self) -> None:
        self._shown = ""

    def lines(self, one: Compared) -> Iterator[str]:
        """Describe one request, with all output of the bot if its answer was a fault."""
        yield f"move {one.move}:"
        yield f"  request: {escaped(one.request.decode().rstrip(), _LONG)}"
        yield f"  then:    {_answer(one.stored, one.failed)}"
        yield f"  now:     {_answer(one.given, one.fault)}"
        if not one.fault:
            return
        yield f"  stdout:  {escaped(one.received, _LONG) or '(nothing)'}"
        if one.stderr and one.stderr == self._shown:
            yield "  stderr:  (the same as above)"
        elif one.stderr:
            self._shown = one.stderr
            yield "  stderr:"
            yield from (f"    {escaped(line, _LONG)}" for line in one.stderr.splitlines())
        else:
            yield "  stderr:  (nothing)"


def summary_line(compared: Sequence[Compared], name: str) -> str:
    """Count the different answers."""
    if not compared:
        return f"{name} was never asked in this deal"
    differ = sum(not one.same for one in compared)
    if not differ:
        return f"all {len(compared)} answers are the same as those of {name}"
    return f"{differ} of {len(compared)} answers differ from those of {name}"


def _answer(fields: dict[str, Any] | None, fault: str) -> str:
    return escaped(fault, 600) if fields is None else json.dumps(fields)
