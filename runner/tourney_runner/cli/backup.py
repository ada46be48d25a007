"""``tourney backup``: a copy of a results folder in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir

__all__ = ["backup"]


def backup(
    folder: ResultsDir,
    to: Annotated[
        Path, typer.Argument(metavar="FILE", help="The ZIP file to write.", show_default=False)
    ],
) -> None:
    """Copy a folder of results into one file.

    A run may continue in the meantime. The file contains the deals, the logs and the seed, even a
    secret one.
    Tables and pages are not in it; `tourney restore` makes them again.
    """
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.results.backup import back_up
    from tourney_runner.text import counted

    with StopSignals():
        deals = back_up(folder, to)
    typer.echo(f"{to}: {counted(deals, 'deal')}")
