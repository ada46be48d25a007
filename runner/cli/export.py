"""``tourney export``: results as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add", "export"]


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    *,
    deals: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All deals, as .csv or .jsonl.", show_default=False),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The ranking, as .csv, .json, .md, .tex or .txt.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write deals or the ranking into files, each in the format of its ending."""
    from contextlib import closing

    from runner.errors import UsageError
    from runner.publish.export import write_deals, write_table
    from runner.publish.summary import summarise
    from runner.results.store import FILE_NAME, Store

    if deals is None and table is None:
        raise UsageError("nothing to write: give --deals FILE, --table FILE or both")
    with closing(Store(folder / FILE_NAME)) as store:
        if deals is not None:
            typer.echo(f"{deals}: {write_deals(store, deals):,} deals")
        if table is not None:
            write_table(summarise(store), table)
            typer.echo(f"{table}: the ranking")


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("export")(export)
