"""``tourney withdraw``: end a bot's part in a tournament."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

import typer

from tourney_runner.cli.options import BotName, NoMigrate, ResultsDir, Undo

__all__ = ["withdraw"]


def _day(text: str) -> date:
    """Parse a day; typer's own message for a wrong one shows Python's format string."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a day has no zone
    except ValueError as error:
        raise typer.BadParameter(f"found {text!r}, expected a day such as 2026-11-30") from error


def withdraw(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    bot: BotName,
    *,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason; it is published.")
    ] = "its author has withdrawn it",
    since: Annotated[
        date | None,
        typer.Option(
            "--from",
            parser=_day,
            metavar="YYYY-MM-DD",
            help="The first day without the bot.",
            show_default="today",
        ),
    ] = None,
    undo: Undo = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Let a bot keep its deals and play no further rounds.

    Rounds of which something is stored are played to their end with it; the rounds after them
    are planned again for the others. With --from, the first run on or after that day does so.
    """
    from tourney_runner.cli.output import print_table
    from tourney_runner.decisions import sanctions

    migrate = not no_migrate
    if undo:
        summary, line = sanctions.undo(folder, "withdrawn", bot, migrate=migrate)
    else:
        summary, line = sanctions.rule(folder, "withdrawn", bot, reason, since, migrate=migrate)
    print_table(summary)
    typer.echo(line)
