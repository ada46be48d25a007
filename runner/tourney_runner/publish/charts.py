"""The pictures of a tournament as SVG that stands in the page and wears the page's colours.

pygal draws them: it is small (1.3 MB, no compiled parts) where matplotlib would bring 70 MB, and
its shapes take their colours from a style sheet, so that one picture serves light and dark. Its
own sheets, scripts, ids and comments (which hold the date) are taken out: the site's sheet has
what is needed, and the same results give the same picture.
"""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import pygal
from markupsafe import Markup
from pygal.style import Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.publish.statistics import History, TimeUse

__all__ = ["LINES", "ROWS", "places_plot", "rating_plot", "seats_plot", "time_plot"]

LINES = 8
"""Lines that a reader can tell apart by colour."""
ROWS = 40
"""Bars that fit a picture."""

_WIDTH = 960
_ROW_HEIGHT = 26
_NAME_LENGTH = 24
_ROOM = Style(label_font_size=15, major_label_font_size=15)
"""Not how letters look, which the page says, but how much room is left for them."""
_SHORTEST = 1e-3
"""Milliseconds; a scale of powers of ten has no nought."""


def rating_plot(history: History, entrants: Sequence[int], names: Sequence[str]) -> Markup:
    """Ratings (mu) over deals.

    Args:
        history: The ratings on the way.
        entrants: Whose lines to draw, at most `LINES`.
        names: Their names.
    """
    chart = pygal.XY(
        **_config(height=420),
        show_dots=False,
        x_title="deals",
    )
    for entrant, name in zip(entrants, names, strict=True):
        chart.add(_short(name), list(zip(history.deals, history.mu[entrant], strict=True)))
    return _drawn(chart, "Rating over deals")


def places_plot(names: Sequence[str], places: Sequence[Sequence[int]]) -> Markup:
    """How often each bot took each place, in percent of its deals; best bots first.

    Args:
        names: Of at most `ROWS` bots.
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
    """The mean place that a seat gives, over all bots.

    Args:
        means: By seat; None where nobody played.
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
    """The median and the longest time of a move, on a scale of powers of ten.

    Args:
        names: Of at most `ROWS` bots.
        times: What they used; None for a bot that was never asked.
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
    """The powers of ten around two values, with room for the shorter bar to be seen."""
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
        "margin_right": 28,  # half of the last number of a scale stands beyond its end
        "style": _ROOM,
        "show_legend": False,  # it stands in the page, where it can wrap and be read
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
    """The SVG; safe, since pygal builds it as a tree of elements and texts."""

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
    """Leave shapes and words; a value becomes the title that a pointer shows."""
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
