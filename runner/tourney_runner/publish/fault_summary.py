"""Faults for spectators: the meaning of each kind, and each bot's first case of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.publish.standings_rows import Row
from tourney_runner.publish.statistics import FaultRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.publish.statistics import BotResults
    from tourney_runner.results.records import FaultKind

__all__ = ["FAULT_MEANINGS", "Trouble", "troubles"]

FAULT_MEANINGS: dict[FaultKind, str] = {
    "start": "it could not be started, or never reported that it was ready",
    "crash": "it ended, or closed its output, instead of answering",
    "timeout": "it did not answer in time",
    "illegal": "it played something that the rules forbid",
    "malformed": "its output was not a valid answer",
    "flood": "it wrote more output than allowed",
    "memory": "it used more memory than allowed",
}
"""The meaning of each kind of fault, for spectators."""


class Trouble(msgspec.Struct, frozen=True):
    """All faults of one kind of one bot."""

    row: Row
    """The bot."""
    kind: str
    count: int
    first: FaultRef | None
    """The first of them; None if it is not among the faults that were kept."""


def troubles(rows: Sequence[Row], bots: Sequence[BotResults]) -> Iterator[Trouble]:
    """Yield the faults of all bots, in the order of the ranking.

    Args:
        rows: The bots by rank.
        bots: Their results, by entrant.
    """
    for row in rows:
        for kind, count in row.standing.faults.items():
            known = bots[row.number].faults
            first = next((fault for fault in known if fault.kind == kind), None)
            yield Trouble(row, kind, count, first)
