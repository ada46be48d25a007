"""``tourney league``: the table over all seasons."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add", "league"]


class Format(StrEnum):
    """How the table is written."""

    table = "table"
    json = "json"
    md = "md"


def league(
    league: Annotated[
        Path, typer.Argument(help="The league's configuration, or the folder that it is in.")
    ],
    *,
    format: Annotated[  # noqa: A002 - it names the option
        Format, typer.Option(help="How to write it.")
    ] = Format.table,
) -> None:
    """Print the table over all seasons: a point for every bot that ranks below, in each."""
    from runner.authors.league import find_league
    from runner.cli.terminal import stdout_console, write_exactly
    from runner.league.table import as_json, as_markdown, as_table, league_table

    table = league_table(find_league(league).absolute())
    if format is Format.table:
        stdout_console().print(as_table(table))
    else:
        write_exactly({Format.json: as_json, Format.md: as_markdown}[format](table))


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("league")(league)
