"""``tourney disqualify``: take a bot out of all tables."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import BotName, NoMigrate, ResultsDir, Undo

__all__ = ["disqualify"]


def disqualify(
    folder: ResultsDir,
    bot: BotName,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason; it is published.")] = "",
    undo: Undo = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Take a bot out of all tables.

    All tables are computed again from the stored deals. Its deals do not count, for any bot at the
    table. It plays in no rounds that have not begun.
    """
    from tourney_runner.cli.output import print_table
    from tourney_runner.decisions import sanctions

    migrate = not no_migrate
    if undo:
        summary, line = sanctions.undo(folder, "disqualified", bot, migrate=migrate)
    else:
        summary, line = sanctions.rule(folder, "disqualified", bot, reason, migrate=migrate)
    print_table(summary)
    typer.echo(line)
