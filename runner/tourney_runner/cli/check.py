"""``tourney check``: try a bot before a tournament does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import BotFolder, Json

__all__ = ["check"]


def check(  # noqa: PLR0913 - each is an option of the command
    bot: BotFolder,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="CONFIG", help="Try it under the rules and limits of this tournament."
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Try this game only.", show_default="all it plays"),
    ] = None,
    deals: Annotated[
        int, typer.Option(metavar="N", min=1, max=100_000, help="Random deals of each game.")
    ] = 40,
    time: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, help="The most time for deals and for the rules one by one."
        ),
    ] = 30,
    json: Json = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show messages also where all is well.")
    ] = False,
) -> None:
    """Try a bot, and show how to fix what fails.

    It plays random deals, at each rule, and hard cases.

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
    from tourney_runner.errors import UsageError

    if config and game:
        raise UsageError("--config says which game is played: leave --game out")
    loaded = load_config(config, skip_broken=True, growing=True) if config else None
    plan = make_plan(loaded, game=game, deals=deals, seconds=time)
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
