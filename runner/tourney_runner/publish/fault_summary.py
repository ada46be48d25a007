"""What bots failed by, for the first page: each kind of fault once, with its first case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.publish.standings_rows import Row
from tourney_runner.publish.statistics import FaultRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.publish.statistics import BotResults

__all__ = ["Trouble", "troubles"]


class Trouble(msgspec.Struct, frozen=True):
    """The faults of one kind of one bot."""

    row: Row
    """The bot."""
    kind: str
    count: int
    first: FaultRef | None
    """The first of them, unless it is lost among too many of other kinds."""


def troubles(rows: Sequence[Row], bots: Sequence[BotResults]) -> Iterator[Trouble]:
    """All of them, in the order of the ranking.

    Args:
        rows: The bots by rank.
        bots: Their results, by entrant.
    """
    for row in rows:
        for kind, count in row.standing.faults.items():
            known = bots[row.number].faults
            first = next((fault for fault in known if fault.kind == kind), None)
            yield Trouble(row, kind, count, first)
