"""``tourney standings``: the ranking of a folder of results."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir

__all__ = ["standings"]


class Format(StrEnum):
    """A format of the ranking."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"
    html = "html"
    tex = "tex"
    txt = "txt"


def standings(
    folder: ResultsDir,
    *,
    format: Annotated[  # noqa: A002 - it names the option
        Format, typer.Option(metavar="table|json|csv|md|html|tex|txt", help="The format.")
    ] = Format.table,
) -> None:
    """Print the ranking of stored results.

    It is computed from the stored deals each time, also while a run goes on.
    """
    from contextlib import closing

    from tourney_runner.cli.output import print_table
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.publish.summary import summarise
    from tourney_runner.publish.tables import FORMATS
    from tourney_runner.results.store import FILE_NAME, Store

    with closing(Store(folder / FILE_NAME)) as store:
        summary = summarise(store)
        if format is Format.table:
            print_table(summary)
            return
    writers = {Path(file).suffix: write for _, file, write in FORMATS}
    write_exactly(writers[f".{format}"](summary))
