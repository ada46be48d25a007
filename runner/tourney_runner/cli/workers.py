"""``tourney workers``: another number of workers for a run that is going on."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir, whole_number

__all__ = ["workers"]


def workers(
    folder: ResultsDir,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="N",
            parser=whole_number(0, 256),
            help="The number of workers; 0 pauses the run.",
            show_default=False,
        ),
    ] = None,
    *,
    undo: Annotated[
        bool, typer.Option("--undo", help="Let the next run have its own number again.")
    ] = False,
) -> None:
    """Change the number of workers of a run.

    Deals that are being played are finished. The command returns once the run has that number.
    The number stays until it is set again, also when the run is started again.
    """
    from tourney_runner.errors import UsageError
    from tourney_runner.run.worker_count import request_workers

    if (number is None) != undo:
        raise UsageError("give a number of workers (0 pauses the run), or --undo")
    typer.echo(request_workers(folder, number))
