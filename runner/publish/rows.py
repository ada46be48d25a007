"""The rows of the ranking as the pages show them: numbers, and the small pictures beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from runner.publish.summary import Ruling
from runner.ratings.standings import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.publish.summary import Summary

__all__ = ["Interval", "Row", "Span", "rows"]

_SIGMAS = 1.96
"""Around mu lie 95 % of what is believed of a bot's skill."""


class Interval(msgspec.Struct, frozen=True):
    """Where a value lies with 95 % confidence."""

    low: float
    high: float


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
    rating: Interval
    rating_span: Span
    fault_count: int
    ruling: Ruling | None
    """What the organiser has decided about it."""


def rows(summary: Summary) -> tuple[Row, ...]:
    """All bots in the order of the ranking."""
    numbers = {entrant.name: number for number, entrant in enumerate(summary.facts.entrants)}
    intervals = [_interval(standing) for standing in summary.entrants]
    scale = _scale(intervals)
    return tuple(
        _row(summary, numbers[standing.name], standing, interval, scale)
        for standing, interval in zip(summary.entrants, intervals, strict=True)
    )


def _row(
    summary: Summary, number: int, standing: Standing, interval: Interval, scale: Interval
) -> Row:
    entrant = summary.facts.entrants[number]
    return Row(
        number=number,
        page=f"bots/{number + 1:03}.html",
        badge=f"badges/{number + 1:03}.svg",
        language=entrant.language,
        author=entrant.author,
        standing=standing,
        rating=interval,
        rating_span=_span(interval, standing.mu, scale),
        fault_count=sum(standing.faults.values()),
        ruling=summary.ruling(standing.name),
    )


def _interval(standing: Standing) -> Interval:
    spread = _SIGMAS * standing.sigma
    return Interval(standing.mu - spread, standing.mu + spread)


def _scale(intervals: Sequence[Interval]) -> Interval:
    """What the whole width of a picture stands for."""
    low = min((interval.low for interval in intervals), default=0.0)
    high = max((interval.high for interval in intervals), default=1.0)
    return Interval(low, high if high > low else low + 1)


def _span(interval: Interval, middle: float, scale: Interval) -> Span:
    whole = scale.high - scale.low
    return Span(
        left=round(100 * (interval.low - scale.low) / whole, 1),
        width=round(100 * (interval.high - interval.low) / whole, 1),
        dot=round(100 * (middle - scale.low) / whole, 1),
    )
