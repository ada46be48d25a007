"""``tourney check``: try a bot before a tournament does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import BotFolder, Json

if TYPE_CHECKING:
    from tourney_runner.botcheck import Plan
    from tourney_runner.config import Entrant

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
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=100_000,
            help="Random deals of each game.",
            show_default="40; 1 with --debug",
        ),
    ] = None,
    time: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, help="Time limit for the deals and the rule positions."
        ),
    ] = 30,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Play without limits and sandbox, and wait for a debugger at the start.",
        ),
    ] = False,
    json: Json = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the messages of passed checks too.")
    ] = False,
) -> None:
    """Try a bot, and show how to fix what fails.

    It plays random deals, positions for each rule, and difficult cases.

    Exit status 0 if it is ready for a tournament, 2 if not.
    """
    from contextlib import nullcontext

    import msgspec

    from tourney_runner.botcheck import check_bot, make_plan
    from tourney_runner.botcheck.check_report import summary_lines
    from tourney_runner.botcheck.check_settings import DEALS, tidy
    from tourney_runner.cli.check_progress import Silent, Spoken
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.config import load_config, read_bot
    from tourney_runner.errors import UsageError

    if config and game:
        raise UsageError("--config determines the game: leave --game out")
    loaded = load_config(config, skip_broken=True, growing=True) if config else None
    if debug and json:
        raise UsageError("--debug is for people, --json for programs: leave one of them out")
    entrant = read_bot(bot)
    plan = make_plan(loaded, entrant, game=game, deals=deals or DEALS, seconds=time)
    if debug:
        _debug(entrant, plan, deals or 1, verbose=verbose)
        return

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


def _debug(entrant: Entrant, plan: Plan, deals: int, *, verbose: bool) -> None:
    """Play deals for a person with a debugger."""
    from tourney_runner.botcheck.check_report import check_lines
    from tourney_runner.botcheck.check_settings import tidy
    from tourney_runner.botcheck.debug_session import debug_bot

    failed = False
    with tidy():
        for check in debug_bot(entrant, plan, deals, _wait_for_enter):
            failed = failed or check.verdict == "failed"
            for line in check_lines(check, verbose=verbose):
                typer.echo(line)
    if failed:
        raise typer.Exit(2)


def _wait_for_enter(process: int, folder: str) -> None:
    import sys

    typer.echo(
        f"the bot runs as process {process} in {folder}, and waits for its first line. Attach a"
        " debugger (see `tourney docs debugging`), then press Enter here.",
        err=True,
    )
    sys.stdin.readline()
