"""``tourney disqualify``: take a bot out of all tables."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import BotName, ResultsDir, Undo

__all__ = ["disqualify"]


def disqualify(
    folder: ResultsDir,
    bot: BotName,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for everybody to read.")] = "",
    undo: Undo = False,
) -> None:
    """Take a bot out of all tables.

    They are computed anew from the stored deals. Deals at which it sat count for nobody. It plays
    no rounds that have not begun.
    """
    from tourney_runner.cli.output import print_table
    from tourney_runner.decisions import sanctions

    if undo:
        summary, line = sanctions.undo(folder, "disqualified", bot)
    else:
        summary, line = sanctions.rule(folder, "disqualified", bot, reason)
    print_table(summary)
    typer.echo(line)
