"""``tourney check``: try a bot before a tournament does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import BotFolder, Json

__all__ = ["check"]


def check(
    bot: BotFolder,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="CONFIG", help="Try it under the rules and limits of this tournament."
        ),
    ] = None,
    json: Json = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show messages also where all is well.")
    ] = False,
) -> None:
    """Try a bot in real deals and hard cases; say what to mend.

    Exit status 0 if a tournament may have it, 2 if not.
    """
    from contextlib import nullcontext

    import msgspec

    from tourney_runner.botcheck import check_bot, make_plan
    from tourney_runner.botcheck.author_sandbox import tidy
    from tourney_runner.botcheck.report_text import summary_lines
    from tourney_runner.cli.check_progress import Silent, Spoken
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.config import load_config, read_bot

    plan = make_plan(load_config(config, skip_broken=True, growing=True) if config else None)
    entrant = read_bot(bot)

    spoken = Spoken(entrant.name, verbose=verbose)
    with tidy(), nullcontext(Silent()) if json else spoken as watcher:
        report = check_bot(entrant, plan, watcher)
    if json:
        document = {"passed": report.passed, **msgspec.to_builtins(report)}
        write_exactly(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    else:
        for line in summary_lines(report):
            typer.echo(line)
    if not report.passed:
        raise typer.Exit(2)
