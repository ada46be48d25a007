"""``tourney publish``: the pages of a folder of results."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ResultsDir

__all__ = ["publish"]


class Logs(StrEnum):
    """The amount of a bot's failures that is shown."""

    none = "none"
    first_line = "first_line"
    all = "all"


def publish(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    *,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the site.", show_default="DIR/site"),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The heading of the pages.", show_default=False),
    ] = None,
    logs: Annotated[
        Logs | None,
        typer.Option(
            metavar="none|first_line|all",
            help="How much of each failure to show.",
            show_default=False,
        ),
    ] = None,
    debug: Annotated[
        bool | None,
        typer.Option("--debug/--no-debug", help="Whether replays show the bots' debug notes."),
    ] = None,
    replays: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=100_000, help="Largest number of replays.", show_default=False
        ),
    ] = None,
    live_status: Annotated[
        str | None, typer.Option(hidden=True, help="The state of a run, as JSON.")
    ] = None,
) -> None:
    """Write a site that works from the disk and on any web host.

    Options take precedence over `publish:` in the tournament's configuration.
    """
    import os
    from contextlib import closing

    import msgspec

    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.publish.publish_options import LiveStatus, kept_choices
    from tourney_runner.publish.result_files import write_files
    from tourney_runner.publish.site import Site
    from tourney_runner.publish.site_folder import SITE_FOLDER
    from tourney_runner.results.store import FILE_NAME, Store

    if title is not None:  # in a poor locale, Python does not read arguments as UTF-8
        title = os.fsencode(title).decode(errors="replace")
    live = None if live_status is None else msgspec.json.decode(live_status, type=LiveStatus)
    with StopSignals(), closing(Store(folder / FILE_NAME)) as store:
        choices = kept_choices(store, title=title, logs=logs, debug=debug, replays=replays)
        choices = msgspec.structs.replace(choices, live=live)
        if to is None:
            write_files(folder, store, choices)
        else:
            Site(store, choices).write(to)
    typer.echo(f"the site: {(to or folder / SITE_FOLDER) / 'index.html'}")
