"""``tourney rerun``: declare a deal void and play it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import NoMigrate, NoSandbox, ResultsDir, SameBots

if TYPE_CHECKING:
    from tourney_runner.bots import Bot
    from tourney_runner.process.sandbox import Mode

__all__ = ["rerun"]


def rerun(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    *,
    deal: Annotated[
        str,
        typer.Option(metavar="DEAL", help="Its number on the pages, or its name in the logs."),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason; it is published.")],
    config: SameBots = None,
    no_sandbox: NoSandbox = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Declare a deal void and play it again.

    The same bots play the same cards. The new deal counts; the void one is kept and listed on the
    page.
    """
    from tourney_runner.cli.deal_ids import deal_numbers
    from tourney_runner.cli.output import print_table
    from tourney_runner.config import load_config
    from tourney_runner.decisions.rerun import rerun as play_rerun
    from tourney_runner.verify.bot_rerunner import Workers, staged_by

    mode: Mode | None = "off" if no_sandbox else None
    staged: list[Bot] = []
    if config is not None:
        staged = staged_by(load_config(config, skip_broken=True), mode)
    (number,) = deal_numbers(folder, [deal])
    summary, line = play_rerun(
        folder, number, reason, Workers(1, mode), staged, migrate=not no_migrate
    )
    print_table(summary)
    typer.echo(line)
