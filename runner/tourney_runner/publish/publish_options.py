"""The organiser's choices for published pages, and the replays that they select."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.publish.provenance import published
from tourney_runner.text import with_suit_symbols

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.publish.statistics import BotResults
    from tourney_runner.results.records import FaultRecord
    from tourney_runner.results.store import Store

__all__ = ["LiveStatus", "PublishChoices", "choose", "fault_text", "kept_choices"]


class LiveStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run, on pages that are written while it goes on."""

    done: int
    """Deals that are played and stored."""
    total: int | None
    """None if the number is not certain."""
    left: str
    """The time that is left, in words; empty if it is not known."""
    at: str
    """The time of this state, ISO 8601 in UTC."""


class PublishChoices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices for published pages; see `config.models.PublishConfig` for the fields."""

    title: str | None = None
    url: str | None = None
    logs: Literal["none", "first_line", "all"] = "first_line"
    debug: bool = False
    replays: int = 200
    choice: Literal["highlights", "first", "last", "spread"] = "highlights"
    live: LiveStatus | None = None
    """Only while a run goes on."""


def kept_choices(store: Store, **instead: Any) -> PublishChoices:
    """Return the choices of the tournament's configuration.

    Args:
        store: The results.
        instead: Values that take precedence, unless they are None.
    """
    kept = store.about().publish
    given = {name: value for name, value in instead.items() if value is not None}
    return msgspec.convert(kept | given, PublishChoices)


def fault_text(fault: FaultRecord, logs: str) -> str:
    """Return the part of a fault's description that may be shown.

    Args:
        fault: The fault.
        logs: ``none``: the kind alone; ``first_line``: also the first line of the cause and of
            the bot's stderr; ``all``: everything that is stored except the request.
    """
    if logs == "none":
        return ""
    cause = published(with_suit_symbols(fault.cause))
    stderr = published(fault.stderr)
    parts = [cause, stderr]
    if logs == "first_line":
        lines = [part.strip().partition("\n")[0] for part in parts]
        return "\n".join(line for line in lines if line)
    answer = f"its output: {published(fault.answer)}" if fault.answer else ""
    return "\n".join(part.rstrip() for part in (cause, answer, stderr) if part.strip())


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
