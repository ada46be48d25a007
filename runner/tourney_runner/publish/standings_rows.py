"""The rows of the ranking as the pages show them: numbers, and the small pictures beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.publish.summary import Ruling
from tourney_runner.ratings.analysis import Certainty
from tourney_runner.ratings.bootstrap import Interval
from tourney_runner.ratings.standings import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.publish.statistics import BotResults
    from tourney_runner.publish.summary import Summary

__all__ = ["Row", "Span", "rows"]


class Span(msgspec.Struct, frozen=True):
    """An interval and its middle as drawn: percent of the width of the picture."""

    left: float
    width: float
    dot: float


class Row(msgspec.Struct, frozen=True):
    """One bot."""

    number: int
    """Among the entrants, from 0."""
    page: str
    """Its page, from the site's root."""
    badge: str
    language: str
    author: str
    standing: Standing
    certainty: Certainty
    """Its 95 % intervals."""
    rating_span: Span
    fault_count: int
    ruling: Ruling | None
    """What the organiser has decided about it."""

    @property
    def is_out(self) -> bool:
        """Whether it was disqualified, and has no place in the ranking."""
        return self.ruling is not None and self.ruling.kind == "disqualified"


def rows(summary: Summary, bots: Sequence[BotResults]) -> tuple[Row, ...]:
    """All bots in the order of the ranking.

    Args:
        summary: The table.
        bots: The bots' results, by entrant.
    """
    numbers = {entrant.name: number for number, entrant in enumerate(summary.facts.entrants)}
    certainties = [bot.certainty for bot in bots]
    found = [(numbers[standing.name], standing) for standing in summary.entrants]
    out = {ruling.name for ruling in summary.rulings if ruling.kind == "disqualified"}
    playing = [
        certainties[number].rating
        for number, standing in found
        if standing.name not in out and 2 * sum(standing.faults.values()) <= standing.deals
    ]
    scale = _scale(playing or [certainty.rating for certainty in certainties])
    return tuple(
        _row(summary, number, standing, certainties[number], scale) for number, standing in found
    )


def _row(
    summary: Summary, number: int, standing: Standing, certainty: Certainty, scale: Interval
) -> Row:
    entrant = summary.facts.entrants[number]
    return Row(
        number=number,
        page=f"bots/{number + 1:03}.html",
        badge=f"badges/{number + 1:03}.svg",
        language=entrant.language,
        author=entrant.author,
        standing=standing,
        certainty=certainty,
        rating_span=_span(certainty.rating, standing.mu, scale),
        fault_count=sum(standing.faults.values()),
        ruling=summary.ruling(standing.name),
    )


def _scale(intervals: Sequence[Interval]) -> Interval:
    """Return the range of ratings that the width of a bar stands for.

    Bots that are disqualified or fail in most deals do not set it: they would shrink all others.
    """
    low = min((interval.low for interval in intervals), default=0.0)
    high = max((interval.high for interval in intervals), default=1.0)
    return Interval(low, high if high > low else low + 1)


def _span(interval: Interval, middle: float, scale: Interval) -> Span:
    low, high, dot = (_percent(value, scale) for value in (interval.low, interval.high, middle))
    return Span(left=low, width=round(high - low, 1), dot=dot)


def _percent(value: float, scale: Interval) -> float:
    """Return the place of a value on the scale, in percent; values outside stand at its ends."""
    share = (value - scale.low) / (scale.high - scale.low)
    return round(100 * min(1.0, max(0.0, share)), 1)
