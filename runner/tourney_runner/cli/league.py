"""``tourney league``: the table over all seasons."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tourney_runner.cli.options import LeaguePath

__all__ = ["league"]


class Format(StrEnum):
    """How the table is written."""

    table = "table"
    json = "json"
    md = "md"


def league(
    league: LeaguePath,
    *,
    format: Annotated[  # noqa: A002 - it names the option
        Format, typer.Option(metavar="table|json|md", help="How to write it.")
    ] = Format.table,
) -> None:
    """Print a league's table over all seasons.

    In each season a bot gets a point for every bot that ranks below it.
    """
    from tourney_runner.cli.terminal import stdout_console, write_exactly
    from tourney_runner.league.league_config import find_league
    from tourney_runner.league.league_table import as_json, as_markdown, as_table, league_table

    table = league_table(find_league(league).absolute())
    if format is Format.table:
        stdout_console().print(as_table(table))
    else:
        write_exactly({Format.json: as_json, Format.md: as_markdown}[format](table))
