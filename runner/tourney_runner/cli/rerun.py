"""``tourney rerun``: declare deals void and play them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import NoMigrate, NoSandbox, ResultsDir, SameBots

if TYPE_CHECKING:
    from tourney_runner.play.bot import Bot
    from tourney_runner.process.sandbox import Mode

__all__ = ["rerun"]


def rerun(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason; it is published.")],
    deal: Annotated[
        str | None,
        typer.Option(metavar="DEAL", help="Its number on the pages, or its name in the logs."),
    ] = None,
    bot: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --faults: a bot that failed.")
    ] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="All deals in which the bot failed.")
    ] = False,
    config: SameBots = None,
    no_sandbox: NoSandbox = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Declare deals void and play them again.

    Give --deal, or --bot and --faults. The same bots play the same cards. The new deals count; the
    void ones are kept and listed on the page.
    """
    from tourney_runner.cli.deal_ids import deal_numbers
    from tourney_runner.cli.output import print_table
    from tourney_runner.config import load_config
    from tourney_runner.decisions.rerun import rerun as rerun_deal
    from tourney_runner.decisions.rerun import rerun_faults
    from tourney_runner.errors import UsageError
    from tourney_runner.verify.bots_check import Workers, staged_by

    if (deal is None) != (bot is not None and faults) or (bot is not None) != faults:
        raise UsageError("give --deal DEAL, or --bot NAME with --faults")
    mode: Mode | None = "off" if no_sandbox else None
    staged: list[Bot] = []
    if config is not None:
        staged = staged_by(load_config(config, skip_broken=True), mode)
    workers = Workers(None if deal is None else 1, mode)
    migrate = not no_migrate
    if deal is not None:
        (number,) = deal_numbers(folder, [deal])
        summary, line = rerun_deal(folder, number, reason, workers, staged, migrate=migrate)
    else:
        summary, line = rerun_faults(folder, bot or "", reason, workers, staged, migrate=migrate)
    print_table(summary)
    typer.echo(line)
