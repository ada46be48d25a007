"""``tourney standings``: the ranking of a folder of results."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir

__all__ = ["standings"]


class Format(StrEnum):
    """How the ranking is written."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"
    tex = "tex"
    txt = "txt"


def standings(
    folder: ResultsDir,
    *,
    format: Annotated[  # noqa: A002 - it names the option
        Format, typer.Option(metavar="table|json|csv|md|tex|txt", help="How to write it.")
    ] = Format.table,
    warn: Annotated[
        bool,
        typer.Option("--warn", help="Say whether the deals suffice, also where there are many."),
    ] = False,
) -> None:
    """Print the ranking of stored results.

    It is computed afresh from the deals, also while a run goes on. Where there are up to 20,000
    deals the table also says whether they suffice to tell the bots apart.
    """
    from contextlib import closing

    from tourney_runner.cli.output import print_table
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.errors import UsageError
    from tourney_runner.publish.schedule_warning import QUICK_DEALS, short_schedule
    from tourney_runner.publish.summary import summarise
    from tourney_runner.publish.tables import FORMATS
    from tourney_runner.results.store import FILE_NAME, Store

    if warn and format is not Format.table:
        raise UsageError(
            f"--warn adds to the table on the screen, so it cannot go with --format {format}; leave"
            " one of them out"
        )
    with closing(Store(folder / FILE_NAME)) as store:
        summary = summarise(store)
        if format is Format.table:
            print_table(summary, short_schedule(store, summary, None if warn else QUICK_DEALS))
            return
    writers = {Path(file).suffix: write for _, file, write in FORMATS}
    write_exactly(writers[f".{format}"](summary))
