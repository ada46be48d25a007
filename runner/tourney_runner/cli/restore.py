"""``tourney restore``: a results folder from its backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["restore"]


def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A file of `tourney backup`.", exists=True, show_default=False
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The new folder.", show_default=False)
    ],
) -> None:
    """Make a folder of results from its backup.

    All checksums are compared, and the tables and pages are written again.
    """
    from contextlib import closing

    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.publish.result_files import write_files
    from tourney_runner.results.backup import restore as restore_folder
    from tourney_runner.results.store import FILE_NAME, Store
    from tourney_runner.text import counted

    with StopSignals():
        deals = restore_folder(file, folder)
        with closing(Store(folder / FILE_NAME)) as store:
            write_files(folder, store)
    typer.echo(f"{folder}: {counted(deals, 'deal')}")
