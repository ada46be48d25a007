"""The head-to-head map of a large field, drawn with one shape per shade, not one per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup

from tourney_runner.publish.rendering import embedded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.publish.standings_rows import Row
    from tourney_runner.publish.statistics import BotResults

__all__ = ["LARGEST_TABLE", "MeetingsMap", "meetings_map"]

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
