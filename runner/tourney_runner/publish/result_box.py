"""The result of a tournament for visitors: the winner, and how certain that is."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.ratings.table import LEAST_MATCHES

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary
    from tourney_runner.ratings.table import Standing

__all__ = ["Contender", "ResultBox", "groups", "result_box"]

_NAMED = 5
"""Contenders that are named; the others are only counted."""


class Contender(msgspec.Struct, frozen=True):
    """A bot that may be the best, according to the deals."""

    name: str
    best: int | None
    """The probability that it is the best, in percent; None where nothing is claimed."""


class ResultBox(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the sentences in the result box."""

    verb: str
    """``won``, ``finished first``, ``leads`` or ``won the final``."""
    first: tuple[str, ...]
    """The bots that share the first rank, or the first place of the final."""
    contenders: tuple[Contender, ...] = ()
    """The bots whose rank range includes 1, the first ones included; at most `_NAMED`."""
    more: int = 0
    """Contenders that are not named."""
    too_little_data: bool = False
    least_matches: int = LEAST_MATCHES
    after: tuple[str, ...] = ()
    """The other bots of the last table, in its order."""

    @property
    def is_sure(self) -> bool:
        """Whether every other bot is surely weaker than the first."""
        return not self.too_little_data and len(self.contenders) == 1


def result_box(summary: Summary) -> ResultBox | None:
    """Return the result of a tournament; None before the first deal, or if no bot is ranked.

    Args:
        summary: The tournament. If the last table decides, its winner is the result.
    """
    if summary.last_table_decides:
        if not summary.final:
            return None
        first, after = summary.final[: summary.winners], summary.final[summary.winners :]
        verb = "won the final" if len(first) == 1 else "share the first place of the final"
        return ResultBox(verb=verb, first=first, after=after)
    ranked = [row for row in summary.entrants if row.status == "ranked"]
    if not ranked or not summary.deals:
        return None
    leading = [row for row in ranked if row.rank == ranked[0].rank]
    open_to = [row for row in ranked if row.rank_range and row.rank_range[0] == 1]
    sure = len(open_to) == 1
    return ResultBox(
        verb="leads" if not summary.complete else "won" if sure else "finished first",
        first=tuple(row.name for row in leading),
        contenders=tuple(_contender(row) for row in open_to[:_NAMED]),
        more=max(0, len(open_to) - _NAMED),
        too_little_data=summary.table.too_little_data,
    )


def groups(summary: Summary) -> frozenset[str]:
    """Return the names of ranked bots that are surely weaker than the bot above them.

    Tables draw a line above each of them: the bots between two lines are too close to call.
    """
    if summary.table.too_little_data:
        return frozenset()
    close = {(pair.above, pair.below) for pair in summary.table.too_close}
    ranked = [row.name for row in summary.entrants if row.status == "ranked"]
    return frozenset(
        below for above, below in itertools.pairwise(ranked) if (above, below) not in close
    )


def _contender(row: Standing) -> Contender:
    return Contender(row.name, None if row.best is None else round(100 * row.best))
