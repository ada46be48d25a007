"""``tourney run``: play a tournament."""

from __future__ import annotations

import re
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.interrupt import plain_ctrl_c
from tourney_runner.cli.options import (
    ConfigFile,
    Dask,
    Fresh,
    Jobs,
    NoMigrate,
    NoPin,
    NoSandbox,
    Out,
    Seed,
    SkipBroken,
    this_command,
)

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary

__all__ = ["run"]


def _time(text: str) -> float:
    """Return a local time as seconds since the epoch: the next such time of day, or a date's."""
    now = datetime.now()  # noqa: DTZ005 - what the user types is local time
    try:
        if re.fullmatch(r"[0-9]{1,2}:[0-9]{2}", text):
            time = datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - as above
            found = datetime.combine(now.date(), time)
            found = found if found > now else found + timedelta(days=1)
        else:
            found = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"found {text[:60]!r}, expected a time such as 17:00 or 2026-12-01T17:00"
        ) from error
    if found.timestamp() <= now.timestamp():
        raise typer.BadParameter(f"{text} is over already")
    return found.timestamp()


def run(  # noqa: PLR0913 - each is an option
    config: ConfigFile,
    *,
    out: Out = None,
    seed: Seed = None,
    fresh: Fresh = False,
    no_migrate: NoMigrate = False,
    add_bots: Annotated[
        list[Path] | None,
        typer.Option(
            "--add",
            metavar="BOT",
            help="Enter the bot of this folder too; a changed one joins as a new version.",
        ),
    ] = None,
    new_versions: Annotated[
        bool, typer.Option("--new-versions", help="Let every changed bot join as a new version.")
    ] = False,
    change_time: Annotated[
        str | None,
        typer.Option(
            "--change-time",
            metavar="REASON",
            help="Play the coming rounds under the changed time limits; the pages show the reason.",
        ),
    ] = None,
    skip_broken: SkipBroken = False,
    live: Annotated[
        bool, typer.Option("--live", help="Keep the site current during the run.")
    ] = False,
    jobs: Jobs = None,
    no_pin: NoPin = False,
    no_sandbox: NoSandbox = False,
    dask: Dask = None,
    close: Annotated[
        bool,
        typer.Option(
            "--close", help="Close the tournament when all is played, and show its secret seed."
        ),
    ] = False,
    reopen: Annotated[
        bool,
        typer.Option("--reopen", help="Add to a closed tournament, on a new secret seed."),
    ] = False,
    until: Annotated[
        float | None,
        typer.Option(
            parser=_time,
            metavar="TIME",
            help="Start no more matches from then on: 17:00, or 2026-12-01T17:00.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print events and the table as lines of JSON.")
    ] = False,
) -> None:
    """Play a tournament and print its ranking.

    On an unfinished folder it continues: only what is missing is played. On a finished one it
    prints the table.
    """
    with plain_ctrl_c():
        from tourney_runner.config import load_config
        from tourney_runner.run.tournament_setup import stored_text_seed

        folder = out or Path("results") / config.stem
        loaded = load_config(
            config,
            seed=seed,
            earlier_seed=None if fresh else stored_text_seed(folder),
            skip_broken=skip_broken,
        )

        from json import loads

        from tourney_runner.cli.live import LiveReporter, announcing
        from tourney_runner.cli.run_progress import (
            JsonReporter,
            QuietReporter,
            make_reporter,
            write_event,
        )
        from tourney_runner.decisions.sanctions import public_reason
        from tourney_runner.errors import TourneyError, UsageError
        from tourney_runner.publish.tables import as_json
        from tourney_runner.run.entrants import entered
        from tourney_runner.run.tournament import RunOptions
        from tourney_runner.run.tournament import run as run_tournament

    if quiet and json:
        raise UsageError("--quiet and --json exclude each other; leave one of them out")
    options = RunOptions(
        folder=folder,
        again=this_command(),
        jobs=jobs,
        pin=not no_pin,
        dask=dask,
        fresh=fresh,
        migrate=not no_migrate,
        skip_broken=skip_broken,
        sandbox="off" if no_sandbox else None,
        added=tuple(entered(bot, loaded) for bot in add_bots or ()),
        new_versions=new_versions,
        change_time=None if change_time is None else public_reason(change_time, "--change-time"),
        until=until,
        reopen=reopen,
    )
    reporter = JsonReporter() if json else QuietReporter() if quiet else make_reporter()
    if live:
        reporter = LiveReporter(reporter, folder)
    try:
        with announcing(loaded, folder, reporter) as reporter:
            summary = run_tournament(loaded, options, reporter)
            if close:
                from tourney_runner.decisions.closing import close_tournament

                summary = close_tournament(folder)
    except TourneyError as error:
        if json:
            write_event("error", text=str(error))
        raise
    if json:
        write_event("table", **loads(as_json(summary)))
    elif not quiet:
        _print_result(summary, folder)
        if loaded.seed is None and not summary.sealed:
            from tourney_runner.decisions.closing import seed_line

            typer.echo(seed_line(summary))


def _print_result(summary: Summary, folder: Path) -> None:
    from tourney_runner.cli.output import print_table

    print_table(summary)
    if any(entrant.faults for entrant in summary.entrants):
        again = f"tourney replay {shlex.quote(str(folder))} --last-fault NAME"
        typer.echo(f"why bots failed: {folder / 'logs'}, or {again}")
    typer.echo(f"the page: {folder / 'index.html'}")
