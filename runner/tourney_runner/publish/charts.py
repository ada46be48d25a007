"""Charts, the map of meetings and badges as inline SVG, styled by the page.

pygal draws them. It is small (1.3 MB, no compiled parts), while matplotlib would add 70 MB, and its
shapes take their colours from a style sheet, so that one image serves light and dark mode. Its own
style sheets, scripts, ids and comments (which contain the date) are removed: the site has its own
style sheet, and the same results give the same image.
"""

from __future__ import annotations

import re
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import msgspec
import pygal
from markupsafe import Markup
from pygal.style import Style

from tourney_runner.publish.rendering import embedded, environment
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tourney_runner.publish.statistics import BotResults, History, Row, TimeUse
    from tourney_runner.ratings.table import Interval

__all__ = [
    "LARGEST_TABLE",
    "LINES",
    "ROWS",
    "MeetingsMap",
    "badge",
    "meetings_map",
    "places_plot",
    "rating_plot",
    "seats_plot",
    "time_plot",
]


LINES = 8
"""Greatest number of lines that a reader can distinguish by colour."""
ROWS = 40
"""Greatest number of bars in a chart."""

_WIDTH = 960
_ROW_HEIGHT = 26
_NAME_LENGTH = 24
_ROOM = Style(label_font_size=15, major_label_font_size=15)
"""Sizes from which the space for text is computed; the page sets the real fonts."""
_ROOM_FOR_NAMES = 190
"""Pixels at the right of the lines."""
_LINE_OF_TEXT = 17.0
"""Pixels between two names."""
_NUMBER = re.compile(r"-?[0-9.]+")
"""A coordinate in the data of a path."""
_SHORTEST = 1e-3
"""Milliseconds; a logarithmic scale has no zero."""


def rating_plot(history: History, entrants: Sequence[int], names: Sequence[str]) -> Markup:
    """Plot ratings (mu) over deals with bands of their intervals, and names at the ends of lines.

    A line begins where there are enough matches for an interval: earlier ratings jump so far that
    the scale would hide all that follows. A bot that never has enough matches has its whole line.

    Args:
        history: The ratings over time.
        entrants: The entrants to plot, at most `LINES`.
        names: Their names.
    """
    looks = [_looks(history, entrant) for entrant in entrants]
    ratings = [value for one in looks for _, mu, reach in one for value in (mu, *(reach or ()))]
    chart = pygal.XY(
        **(_config(height=420) | {"margin_right": _ROOM_FOR_NAMES}),
        show_dots=False,
        x_title="deals",
        range=(min(ratings), max(ratings)) if ratings else None,
        xrange=(0, history.deals[-1]),
    )
    for one, name in zip(looks, names, strict=True):
        chart.add(_short(name), [(deals, mu) for deals, mu, _ in one])
    chart.add_xml_filter(lambda root: _name_lines(root, names))
    chart.add_xml_filter(lambda root: _draw_bands(root, chart.view, looks))
    return _drawn(chart, "Rating over deals")


_Look = tuple[int, float, "Interval | None"]
"""A number of deals, the rating after them, and its interval."""


def _looks(history: History, entrant: int) -> list[_Look]:
    """Return the ratings of an entrant that have an interval, or all of them if fewer than two."""
    looks = list(zip(history.deals, history.mu[entrant], history.interval[entrant], strict=True))
    known = [one for one in looks if one[2] is not None]
    return known if len(known) > 1 else looks


def _lines(root: Any) -> list[tuple[Any, Any]]:
    """Return the group of each series, and its line; None for a series without points."""
    return [
        (group, group.find("path"))
        for group in root.iter("g")
        if "series" in group.get("class", "").split()
    ]


def _draw_bands(
    root: Any,
    place: Callable[[tuple[float, float]], tuple[float, float]],
    series: Sequence[Sequence[_Look]],
) -> Any:
    """Draw the band of each series behind its line.

    Args:
        root: The chart.
        place: Returns the pixels of a number of deals and a rating.
        series: The points of each line.
    """
    for (group, path), looks in zip(_lines(root), series, strict=False):
        band = [(deals, interval) for deals, _, interval in looks if interval is not None]
        if path is None or len(band) < 2:
            continue
        edge = [place((deals, interval.high)) for deals, interval in band]
        edge += [place((deals, interval.low)) for deals, interval in reversed(band)]
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in edge)
        group.insert(0, group.makeelement("path", {"class": "band", "d": f"M{corners}Z"}))
    return root


def _name_lines(root: Any, names: Sequence[str]) -> Any:
    """Write the name of each line at its right end, moved down where names would overlap."""
    ends = [
        (*map(float, _NUMBER.findall(path.get("d"))[-2:]), group, name)
        for (group, path), name in zip(_lines(root), names, strict=False)
        if path is not None
    ]
    lowest = -_LINE_OF_TEXT
    for x, y, group, name in sorted(ends, key=lambda end: end[1]):
        lowest = max(y, lowest + _LINE_OF_TEXT)
        label = group.makeelement("text", {"x": f"{x + 8:.1f}", "y": f"{lowest + 5:.1f}"})
        label.text = _short(name)
        group.append(label)
    return root


def places_plot(names: Sequence[str], places: Sequence[Sequence[int]]) -> Markup:
    """Plot the share of each place of each bot, in percent of its deals; best bots first.

    Args:
        names: The names of at most `ROWS` bots.
        places: ``places[bot][i]`` counts place i + 1.
    """
    chart = pygal.HorizontalStackedBar(
        **_config(height=_height(len(names))),
        range=(0, 100),
        value_formatter=_percent,
    )
    chart.x_labels = [_short(name) for name in reversed(names)]
    for place in range(max(map(len, places), default=0)):
        chart.add(f"{place + 1}.", [_share(row, place) for row in reversed(places)])
    return _drawn(chart, "Places of each bot", ramp=True)


def seats_plot(means: Sequence[float | None]) -> Markup:
    """Plot the mean place of each seat over all bots.

    Args:
        means: By seat; None if the seat was never used.
    """
    chart = pygal.HorizontalBar(
        **_config(height=_height(len(means))),
        range=(0, len(means)),
        value_formatter=_two_digits,
    )
    chart.x_labels = [f"seat {seat}" for seat in reversed(range(len(means)))]
    chart.y_labels = [{"value": at, "label": str(at)} for at in range(len(means) + 1)]
    chart.add("mean place", list(reversed(means)))
    return _drawn(chart, "Mean place by seat")


def time_plot(names: Sequence[str], times: Sequence[TimeUse | None]) -> Markup:
    """Plot the median and the longest time of a move on a logarithmic scale.

    Args:
        names: The names of at most `ROWS` bots.
        times: The time use of each; None for a bot that was never asked.
    """
    used = [time for time in times if time is not None]
    low, high = _decades(
        min((time.median for time in used), default=1.0),
        max((time.longest for time in used), default=1.0),
    )
    chart = pygal.HorizontalBar(
        **_config(height=_height(len(names), each=38)),
        logarithmic=True,
        range=(10.0**low, 10.0**high),
        zero=10.0**low,
    )
    chart.x_labels = [_short(name) for name in reversed(names)]
    chart.y_labels = [10.0**power for power in range(low, high + 1)]
    for field in ("median", "longest"):
        chart.add(field, [getattr(time, field) if time else None for time in reversed(times)])
    return _drawn(chart, "Time used per move, milliseconds")


def _decades(low: float, high: float) -> tuple[int, int]:
    """Return the powers of ten around two values, with room to show the shorter bar."""
    first = floor(log10(max(low, _SHORTEST)) - 0.3)
    return first, max(first + 1, ceil(log10(max(high, _SHORTEST))))


def _config(*, height: int) -> dict[str, Any]:
    return {
        "width": _WIDTH,
        "height": height,
        "js": (),
        "css": (),
        "disable_xml_declaration": True,
        "margin": 12,
        "margin_right": 28,  # half of the last number of a scale extends beyond its end
        "style": _ROOM,
        "show_legend": False,  # the page has a legend that can wrap and be read
        "truncate_label": _NAME_LENGTH,
    }


def _height(rows: int, each: int = _ROW_HEIGHT) -> int:
    return 60 + each * max(1, rows)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1]}…"


def _share(row: Sequence[int], place: int) -> float:
    total = sum(row)
    return 100 * row[place] / total if total and place < len(row) else 0.0


def _percent(value: float) -> str:
    return f"{value:.0f} %"


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


def _drawn(chart: Any, title: str, *, ramp: bool = False) -> Markup:
    """Return the SVG, which is safe since pygal builds it as a tree of elements and texts."""

    def plain(root: Any) -> Any:
        _strip(root)
        root.attrib.pop("id", None)
        root.set("role", "img")
        root.set("aria-label", title)
        root.set("class", "pygal-chart ramp" if ramp else "pygal-chart")
        return root

    chart.add_xml_filter(plain)
    return Markup(chart.render(is_unicode=True))  # noqa: S704 - see above


def _strip(element: Any) -> None:
    """Keep only shapes and text; turn values into titles, which browsers show as tooltips."""
    for child in list(element):
        if child.tag == "desc" and child.get("class") == "value":
            child.tag = "title"
            child.attrib.clear()
        elif _is_unwanted(child):
            element.remove(child)
        else:
            child.attrib.pop("id", None)
            _strip(child)


def _is_unwanted(element: Any) -> bool:
    if not isinstance(element.tag, str):  # a comment
        return True
    classes = element.get("class", "").split()
    overlay = not {"text-overlay", "tooltip-overlay", "overlay"}.isdisjoint(classes)
    own_title = element.tag == "title" and element.text == "Pygal"
    return overlay or own_title or element.tag in {"defs", "desc", "script"}


_LONGEST = 32
_CHARACTER = 6.6
"""Pixels of an average character at 11 px; the text is fitted to the space that is available."""


def badge(title: str, row: Row, of: int) -> str:
    """Return an SVG with the tournament's title and the bot's rank, or its status if it has none.

    Args:
        title: The title of the tournament.
        row: The bot.
        of: The number of bots that have a rank.
    """
    title = without_controls(title)
    left = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
    right = f"#{row.standing.rank} of {of}" if row.is_ranked else row.standing.status
    widths = [round(len(text) * _CHARACTER + 14) for text in (left, right)]
    return (
        environment()
        .get_template("badge.svg")
        .render(
            label=f"{title}: {without_controls(row.standing.name)} is {right}",
            left=left,
            right=right,
            widths=widths,
        )
    )


LARGEST_TABLE = 24
"""Greatest number of bots whose meetings are shown as a table; 200 would need 40,000 cells."""

_SHADES = 11


class MeetingsMap(msgspec.Struct, frozen=True):
    """The meetings of all pairs, as shapes and data."""

    paths: tuple[str, ...]
    """SVG path data by shade, from never ahead to always ahead; a cell is one unit wide."""
    data: Markup
    """Names and cells as JSON; a cell is (deals, percent, error in percent), or null."""


def meetings_map(rows: Sequence[Row], bots: Sequence[BotResults]) -> MeetingsMap | None:
    """Return the map of a field that is too large for a table; None for a small field.

    Args:
        rows: The bots in the order of the ranking.
        bots: Their results, by entrant.
    """
    if len(rows) <= LARGEST_TABLE:
        return None
    paths: list[list[str]] = [[] for _ in range(_SHADES)]
    cells: list[list[tuple[int, int, int] | None]] = []
    for y, row in enumerate(rows):
        line: list[tuple[int, int, int] | None] = []
        for x, other in enumerate(rows):
            met = bots[row.number].against[other.number]
            if x == y or met.share is None or met.error is None:
                line.append(None)
                continue
            line.append((met.deals, round(100 * met.share), round(100 * met.error)))
            paths[round((_SHADES - 1) * met.share)].append(f"M{x} {y}h1v1h-1z")
        cells.append(line)
    names = [row.standing.name for row in rows]
    return MeetingsMap(
        tuple("".join(path) for path in paths), embedded({"names": names, "cells": cells})
    )
