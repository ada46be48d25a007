"""``tourney replay``: one stored deal, move by move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add", "replay"]


def replay(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    deal: Annotated[
        int, typer.Argument(min=1, help="The deal's number in the order of the schedule, from 1.")
    ],
    *,
    html: Annotated[
        Path, typer.Option(help="Write the replay as a page that needs nothing beside it.")
    ],
    debug: Annotated[
        bool | None,
        typer.Option("--debug/--no-debug", help="Whether to show the bots' debug notes."),
    ] = None,
) -> None:
    """Show a stored deal again."""
    from contextlib import closing

    from runner.publish.choices import kept_choices
    from runner.publish.single import replay_page
    from runner.publish.writing import write_whole
    from runner.results.store import FILE_NAME, Store

    with closing(Store(folder / FILE_NAME)) as store:
        page = replay_page(store, deal, kept_choices(store, debug=debug))
    write_whole(html, page)
    typer.echo(f"the replay: {html}")


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("replay")(replay)
