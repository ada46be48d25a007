"""``tourney submit``: enter a bot into a league."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import BotFolder, LeaguePath

__all__ = ["submit"]


def submit(
    bot: BotFolder,
    league: LeaguePath,
    *,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Enter it under this name.", show_default="its own"),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Retire the version that has this name now.")
    ] = False,
) -> None:
    """Check a bot and enter it into a league.

    This version of it is copied into the league's folder.
    """
    from datetime import UTC, datetime

    from tourney_runner.botcheck.check_settings import tidy
    from tourney_runner.cli.check_progress import Spoken
    from tourney_runner.league.league_setup import League, find_league
    from tourney_runner.league.submission import submit as submit_bot

    with tidy(), Spoken(name or bot.resolve().name) as watcher:
        submission = submit_bot(
            bot,
            League(find_league(league)),
            name=name,
            replace=replace,
            today=datetime.now(UTC).date(),
            watcher=watcher,
        )
    typer.echo()
    for line in submission.next_steps():
        typer.echo(line)
