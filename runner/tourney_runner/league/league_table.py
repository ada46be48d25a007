"""The table over all seasons of a league.

In a season a bot gets a point for every other bot that ranks below it; the points of all seasons
are added up. Versions of a bot count once, at the rank of the best. A disqualified bot gets no
points for that season.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
from rich.table import Table
from rich.text import Text

from tourney_runner.league.seasons import season_folders, season_summary
from tourney_runner.publish.tables import markdown
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.publish.summary import Summary

__all__ = ["LeagueRow", "LeagueTable", "as_json", "as_markdown", "as_table", "league_table"]


class LeagueRow(msgspec.Struct, frozen=True):
    """One bot over all seasons."""

    rank: int
    """The rank from 1; equal points share a rank."""
    name: str
    points: int
    ranks: dict[str, int]
    """The rank in each season that it played."""


class LeagueTable(msgspec.Struct, frozen=True):
    """The table of all bots, the best first."""

    seasons: tuple[str, ...]
    unfinished: tuple[str, ...]
    """Unfinished seasons."""
    rows: tuple[LeagueRow, ...]


def league_table(league: Path) -> LeagueTable:
    """Compute the table of a league.

    Args:
        league: The configuration, which is beside the folder of seasons.
    """
    ranks: dict[str, dict[str, int]] = {}
    points: dict[str, int] = {}
    seasons: list[str] = []
    unfinished: list[str] = []
    for folder in season_folders(league):
        summary, versions = season_summary(folder)
        seasons.append(folder.name)
        if not summary.complete:
            unfinished.append(folder.name)
        places = _places(summary, versions)
        for name, place in places.items():
            ranks.setdefault(name, {})[folder.name] = place
            below = sum(other > place for other in places.values())
            points[name] = points.get(name, 0) + below
    ordered = sorted(points, key=lambda name: (-points[name], name))
    totals = [points[name] for name in ordered]
    rows = tuple(
        LeagueRow(totals.index(points[name]) + 1, name, points[name], ranks[name])
        for name in ordered
    )
    return LeagueTable(tuple(seasons), tuple(unfinished), rows)


def as_json(table: LeagueTable) -> str:
    """Return the table as JSON."""
    return json.dumps(msgspec.to_builtins(table), indent=2, ensure_ascii=False) + "\n"


def as_markdown(table: LeagueTable) -> str:
    """Return the table as Markdown."""
    lines = [
        f"| {' | '.join(['rank', 'bot', 'points', *map(markdown, table.seasons)])} |",
        f"|---:|---|---:|{'---:|' * len(table.seasons)}",
    ]
    lines += [
        f"| {' | '.join([str(row.rank), markdown(row.name), str(row.points), *_ranks(table, row)])}"
        " |"
        for row in table.rows
    ]
    return "\n".join(lines) + "\n"


def as_table(table: LeagueTable) -> Table:
    """Return the table for a terminal."""
    result = Table()
    result.add_column("rank", justify="right")
    result.add_column("bot", overflow="fold")
    for title in ("points", *table.seasons):
        mark = " (unfinished)" if title in table.unfinished else ""
        result.add_column(Text(f"{title}{mark}"), justify="right")
    for row in table.rows:
        cells = [str(row.rank), without_controls(row.name), str(row.points), *_ranks(table, row)]
        result.add_row(*map(Text, cells))
    return result


def _ranks(table: LeagueTable, row: LeagueRow) -> list[str]:
    return [str(row.ranks.get(season, "-")) for season in table.seasons]


def _places(summary: Summary, versions: dict[str, str]) -> dict[str, int]:
    """Return the ranks in a season, counting each bot once."""
    out = {ruling.name for ruling in summary.rulings if ruling.kind == "disqualified"}
    best: dict[str, int] = {}
    for row in summary.entrants:
        if row.deals and row.name not in out:
            best.setdefault(versions.get(row.name, row.name), row.rank)
    order = sorted(best.values())
    return {name: order.index(rank) + 1 for name, rank in best.items()}
