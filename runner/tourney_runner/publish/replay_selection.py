"""The selection of deals with a replay on the site, if there are too many for all."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.publish.statistics import BotResults

__all__ = ["choose"]


def choose(deals: int, ranked: Sequence[BotResults], choices: PublishChoices) -> tuple[int, ...]:
    """Return the numbers of the deals to show, in schedule order.

    Args:
        deals: The number of deals.
        ranked: The bots' results, in the order of the ranking.
        choices: The number and kind of deals to show.
    """
    limit = choices.replays
    if deals <= limit:
        return tuple(range(1, deals + 1))
    if choices.choice == "first":
        return tuple(range(1, limit + 1))
    if choices.choice == "last":
        return tuple(range(deals - limit + 1, deals + 1))
    candidates = _highlights(ranked) if choices.choice == "highlights" else iter(())
    chosen = dict.fromkeys(islice(dict.fromkeys(candidates), limit))
    for number in _spread(deals, limit):
        if len(chosen) == limit:
            break
        chosen[number] = None
    return tuple(sorted(chosen))


def _highlights(ranked: Sequence[BotResults]) -> Iterator[int]:
    """Yield each bot's best and worst deal, first fault and slowest deal, then the second ones."""
    most = max((len(bot.best) for bot in ranked), default=0)
    for which in range(most):
        for kind in ("best", "worst", "faults", "slowest"):
            for bot in ranked:
                yield from (ref.number for ref in getattr(bot, kind)[which : which + 1])


def _spread(deals: int, count: int) -> Iterator[int]:
    """Yield `count` deals at equal distances, then all deals, in case some are chosen already."""
    yield from (1 + index * deals // count for index in range(count))
    yield from range(1, deals + 1)
