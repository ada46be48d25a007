"""The rows of the ranking on pages, with numbers and small charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.publish.summary import Ruling
from tourney_runner.ratings.analysis import Means
from tourney_runner.ratings.table import Interval, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.publish.statistics import BotResults
    from tourney_runner.publish.summary import Summary

__all__ = ["Row", "Span", "rows"]


class Span(msgspec.Struct, frozen=True):
    """An interval and its middle in percent of the width of a chart."""

    left: float
    width: float
    dot: float


class Row(msgspec.Struct, frozen=True):
    """The row of a bot."""

    number: int
    """The bot's number among the entrants, from 0."""
    page: str
    """The bot's page, relative to the site's root."""
    badge: str
    language: str
    author: str
    standing: Standing
    means: Means
    """Its plain means with 95 % intervals."""
    rating_span: Span | None
    """The interval of the rating; None with too few matches."""
    fault_count: int
    ruling: Ruling | None
    """The organiser's decision about it."""

    @property
    def is_out(self) -> bool:
        """Whether it was disqualified, and so is not in the ranking."""
        return self.standing.status == "disqualified"

    @property
    def is_ranked(self) -> bool:
        """Whether it has a rank among the others."""
        return self.standing.status == "ranked"


def rows(summary: Summary, bots: Sequence[BotResults]) -> tuple[Row, ...]:
    """Return all bots in the order of the ranking.

    Args:
        summary: The table.
        bots: The bots' results, by entrant.
    """
    numbers = {entrant.name: number for number, entrant in enumerate(summary.facts.entrants)}
    found = [(numbers[standing.name], standing) for standing in summary.entrants]
    known = [standing for _, standing in found if standing.interval is not None]
    playing = [
        standing
        for standing in known
        if standing.status != "disqualified" and 2 * sum(standing.faults.values()) <= standing.deals
    ]
    scale = _scale([one.interval for one in playing or known if one.interval is not None])
    return tuple(
        _row(summary, number, standing, bots[number].means, scale) for number, standing in found
    )


def _row(summary: Summary, number: int, standing: Standing, means: Means, scale: Interval) -> Row:
    entrant = summary.facts.entrants[number]
    return Row(
        number=number,
        page=f"bots/{number + 1:03}.html",
        badge=f"badges/{number + 1:03}.svg",
        language=entrant.language,
        author=entrant.author,
        standing=standing,
        means=means,
        rating_span=None
        if standing.interval is None
        else _span(standing.interval, standing.mu, scale),
        fault_count=sum(standing.faults.values()),
        ruling=summary.ruling(standing.name),
    )


def _scale(intervals: Sequence[Interval]) -> Interval:
    """Return the range of ratings that the width of a bar represents.

    Bots that are disqualified or fail in most deals are left out: they would shrink all other bars.
    """
    low = min((interval.low for interval in intervals), default=0.0)
    high = max((interval.high for interval in intervals), default=1.0)
    return Interval(low, high if high > low else low + 1)


def _span(interval: Interval, middle: float, scale: Interval) -> Span:
    low, high, dot = (_percent(value, scale) for value in (interval.low, interval.high, middle))
    return Span(left=low, width=round(high - low, 1), dot=dot)


def _percent(value: float, scale: Interval) -> float:
    """Return the position of a value on the scale, in percent; values outside are clipped."""
    share = (value - scale.low) / (scale.high - scale.low)
    return round(100 * min(1.0, max(0.0, share)), 1)
