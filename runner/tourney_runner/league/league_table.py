"""The table over all seasons of a league.

In a season a bot gets a point for every other bot that ranks below it; the points of all seasons
are added up. Versions of a bot count once, at the rank of the best. A disqualified bot gets no
points for that season.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from rich.table import Table
from rich.text import Text

from tourney_runner import __version__
from tourney_runner.atomic_write import write_whole
from tourney_runner.league.seasons import SEASONS, season_folders, season_summary
from tourney_runner.publish.provenance import last_day
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.rendering import SITE_POLICY, asset, environment
from tourney_runner.publish.site import Site
from tourney_runner.publish.site_folder import claim
from tourney_runner.publish.summary import result_box
from tourney_runner.publish.tables import markdown
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.publish.summary import Summary

__all__ = [
    "LeagueRow",
    "LeagueTable",
    "as_json",
    "as_markdown",
    "as_table",
    "league_table",
    "publish_league",
]


class LeagueRow(msgspec.Struct, frozen=True):
    """One bot over all seasons."""

    rank: int
    """The rank from 1; equal points share a rank."""
    name: str
    points: int
    ranks: dict[str, int]
    """The rank in each season that it played."""
    before: int | None = None
    """The rank in the table without the last season; None if it had no points to compare then."""


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
    earlier: dict[str, int] = {}
    seasons: list[str] = []
    unfinished: list[str] = []
    for folder in season_folders(league):
        summary, versions = season_summary(folder)
        seasons.append(folder.name)
        if not summary.complete:
            unfinished.append(folder.name)
        places = _places(summary, versions)
        earlier = dict(points)
        for name, place in places.items():
            ranks.setdefault(name, {})[folder.name] = place
            below = sum(other > place for other in places.values())
            points[name] = points.get(name, 0) + below
    now, before = _ranked(points), _ranked(earlier)
    rows = tuple(
        LeagueRow(rank, name, points[name], ranks[name], before.get(name))
        for name, rank in now.items()
    )
    return LeagueTable(tuple(seasons), tuple(unfinished), rows)


def _ranked(points: dict[str, int]) -> dict[str, int]:
    """Return ranks by name, in their order; equal points share a rank."""
    ordered = sorted(points, key=lambda name: (-points[name], name))
    totals = [points[name] for name in ordered]
    return {name: totals.index(points[name]) + 1 for name in ordered}


def publish_league(league: Path, title: str, to: Path) -> None:
    """Write a front page with the table over all seasons, and the site of each season beside it.

    Args:
        league: The configuration.
        title: The title of the front page.
        to: The folder, which is empty, does not exist, or is such a site.

    Raises:
        UsageError: The folder holds other files, or cannot be written.
        RunError: The disk fails.
    """
    claim(to, ("assets",))
    for name in ("style.css", "tables.js"):
        write_whole(to / "assets" / name, asset(name))
    facts = []
    for folder in season_folders(league):
        with closing(Store(folder / FILE_NAME)) as store:
            site = Site(store, kept_choices(store))
            site.write(to / SEASONS / folder.name)
        result = result_box(site.summary)
        facts.append((folder.name, site.summary, result, last_day(site.summary.facts)))
    page = environment().get_template("league.html")
    text = page.render(
        title=title,
        table=league_table(league),
        seasons=list(reversed(facts)),
        version=__version__,
        policy=SITE_POLICY,
    )
    write_whole(to / "index.html", text)
    write_whole(to / "league.json", as_json(league_table(league)))


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
