"""``tourney run``: a configuration in, a ranking out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.interrupt import plain_ctrl_c
from tourney_runner.cli.options import (
    ConfigFile,
    Dask,
    Fresh,
    Jobs,
    NoPin,
    NoSandbox,
    Out,
    Seed,
    SkipBroken,
    this_command,
)

__all__ = ["add", "run"]


def run(  # noqa: PLR0913 - each is an option
    config: ConfigFile,
    *,
    out: Out = None,
    seed: Seed = None,
    fresh: Fresh = False,
    add_bots: Annotated[
        list[Path] | None,
        typer.Option(
            "--add",
            metavar="BOT",
            help="Enter the bot of this folder, too; a changed one joins as a new version.",
        ),
    ] = None,
    new_versions: Annotated[
        bool, typer.Option("--new-versions", help="Let every changed bot join as a new version.")
    ] = False,
    skip_broken: SkipBroken = False,
    live: Annotated[
        bool, typer.Option("--live", help="Keep the site current during the run.")
    ] = False,
    jobs: Jobs = None,
    no_pin: NoPin = False,
    no_sandbox: NoSandbox = False,
    dask: Dask = None,
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

        from contextlib import closing

        from tourney_runner.cli.live import LiveReporter
        from tourney_runner.cli.output import print_table
        from tourney_runner.cli.run_progress import make_reporter
        from tourney_runner.publish.schedule_warning import short_schedule
        from tourney_runner.results.store import FILE_NAME, Store
        from tourney_runner.run.roster import entered
        from tourney_runner.run.run_options import RunChoices
        from tourney_runner.run.tournament import run as run_tournament

    choices = RunChoices(
        folder=folder,
        again=this_command(),
        jobs=jobs,
        pin=not no_pin,
        dask=dask,
        fresh=fresh,
        skip_broken=skip_broken,
        sandbox="off" if no_sandbox else None,
        added=tuple(entered(folder, loaded) for folder in add_bots or ()),
        new_versions=new_versions,
    )
    reporter = make_reporter()
    if live:
        reporter = LiveReporter(reporter, choices.folder)
    summary = run_tournament(loaded, choices, reporter)
    with closing(Store(choices.folder / FILE_NAME)) as store:
        print_table(summary, short_schedule(store, summary))
    if summary.seed is not None and loaded.seed is None:
        typer.echo(f"the seed, secret so far: {summary.seed}")
    if any(entrant.faults for entrant in summary.entrants):
        again = f"tourney replay {shlex.quote(str(choices.folder))} --last-fault NAME"
        typer.echo(f"why bots failed: {choices.folder / 'logs'}, or {again}")
    typer.echo(f"the page: {choices.folder / 'index.html'}")


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("run")(run)
