"""``tourney disqualify``: take a bot out of all tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["add", "disqualify"]


def disqualify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    bot: Annotated[str, typer.Argument(help="The bot's name.")],
    *,
    reason: Annotated[str, typer.Option(help="Why, for everybody to read.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
) -> None:
    """Take a bot out of all tables, which are computed anew from the stored deals.

    Deals at which it sat count for nobody. It plays no rounds that have not begun.
    """
    from runner.cli.texts import print_table
    from runner.errors import UsageError
    from runner.league import ruling

    if undo:
        summary, line = ruling.undo(folder, "disqualified", bot)
    elif not reason.strip():
        raise UsageError("give --reason: it is shown with the bot")
    else:
        summary, line = ruling.rule(folder, "disqualified", bot, reason)
    print_table(summary)
    typer.echo(line)


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("disqualify")(disqualify)
