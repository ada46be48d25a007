"""``tourney prune``: delete logs and personal data."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir, whole_number

__all__ = ["prune"]


def prune(
    folder: ResultsDir,
    *,
    logs: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            parser=whole_number(0, 100_000),
            help="Delete logs that are older; 0 deletes all.",
            show_default=False,
        ),
    ] = None,
    authors: Annotated[
        bool, typer.Option("--authors", help="Forget the names of the bots' authors.")
    ] = False,
) -> None:
    """Delete logs and personal data of a tournament.

    Deals, bots' names and faults stay: they are the evidence for the ranking.
    """
    from tourney_runner.decisions.sanctions import open_results, publish
    from tourney_runner.errors import UsageError
    from tourney_runner.results.backup import clear_authors, delete_logs
    from tourney_runner.text import counted

    if logs is None and not authors:
        raise UsageError("nothing to delete: give --logs DAYS, --authors or both")
    with open_results(folder) as store:
        if logs is not None:
            typer.echo(f"{counted(delete_logs(folder, logs), 'log')} deleted")
        if authors:
            bots = counted(clear_authors(store), "bot")
            publish(folder, store)
            typer.echo(f"the authors of {bots} are forgotten; the tables are written again")
