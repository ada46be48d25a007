"""``tourney rerun``: declare a deal void and play it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from runner.bots import Bot
    from runner.process.sandbox import Mode

__all__ = ["add", "rerun"]


def rerun(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    *,
    deal: Annotated[int, typer.Option(min=1, help="Its number, as on the pages.")],
    reason: Annotated[str, typer.Option(help="Why, for everybody to read.")],
    config: Annotated[
        Path | None,
        typer.Option(help="A configuration that enters the same bots, if they are not cached."),
    ] = None,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Start bots with your own rights.")
    ] = False,
) -> None:
    """Declare a deal void and play it again, on the same cards and with the same bots.

    What counts is the second time; the void deal is kept and listed on the page.
    """
    from runner.cli.texts import print_table
    from runner.config import load_config
    from runner.league.replaying import Workers, staged_by
    from runner.league.rerun import rerun as play_rerun

    mode: Mode = "off" if no_sandbox else "auto"
    staged: list[Bot] = []
    if config is not None:
        staged = staged_by(load_config(config, skip_broken=True), mode)
    summary, line = play_rerun(folder, deal, reason, Workers(1, mode), staged)
    print_table(summary)
    typer.echo(line)


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("rerun")(rerun)
