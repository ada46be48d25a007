"""``tourney unbench``: let a benched bot play again."""

from __future__ import annotations

import typer

from tourney_runner.cli.options import BotName, NoMigrate, ResultsDir

__all__ = ["unbench"]


def unbench(folder: ResultsDir, bot: BotName, *, no_migrate: NoMigrate = False) -> None:
    """Let a benched bot play again.

    A bot is benched when all of its last deals failed. Where rounds are planned ahead, the deals
    that it has forfeited since are removed, and the next `tourney run` plays them. In a swiss,
    knockout or ladder it plays again from the next round on.
    """
    from tourney_runner.cli.output import print_table
    from tourney_runner.decisions import sanctions

    summary, line = sanctions.unbench(folder, bot, migrate=not no_migrate)
    print_table(summary)
    typer.echo(line)
