"""``tourney export``: results as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir

__all__ = ["export"]


def export(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    *,
    deals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The deals that count, as .csv or .jsonl.", show_default=False
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="All deals, with a column that says why some do not count."),
    ] = False,
    moves: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Every move with its view, the hands and the legal answers, as .jsonl or"
            " .parquet.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The ranking, as .csv, .json, .md, .html, .tex or .txt.",
            show_default=False,
        ),
    ] = None,
    bom: Annotated[
        bool,
        typer.Option("--bom", help="Begin CSV with a byte order mark, which Excel needs."),
    ] = False,
) -> None:
    """Write deals, moves or the ranking into files.

    The ending of a file's name decides its format.
    """
    from contextlib import closing
    from functools import partial

    from tourney_runner.errors import UsageError
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.publish.export import check_files, write_deals, write_moves, write_table
    from tourney_runner.publish.summary import summarise
    from tourney_runner.results.store import FILE_NAME, Store
    from tourney_runner.text import counted

    if deals is None and table is None and moves is None:
        raise UsageError("nothing to write: give --deals FILE, --moves FILE or --table FILE")
    check_files(deals, table, moves)
    with StopSignals(), closing(Store(folder / FILE_NAME)) as store:
        for path, write, what in (
            (deals, partial(write_deals, bom=bom), "{}"),
            (moves, write_moves, "the moves of {}"),
        ):
            if path is not None:
                written = write(store, path, every=every)
                out = counted(written.left_out, "that does not count is", "that do not count are")
                rest = f"; {out} left out (--all writes all)" if written.left_out else ""
                typer.echo(f"{path}: {what.format(counted(written.deals, 'deal'))}{rest}")
        if table is not None:
            write_table(summarise(store), table, bom=bom)
            typer.echo(f"{table}: the ranking")
