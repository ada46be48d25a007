"""``tourney run``: a configuration in, a ranking out."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from runner.cli import plain_ctrl_c

__all__ = ["add", "run"]


def run(  # noqa: PLR0913 - each is an option
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The tournament's YAML file.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the results.", show_default="results/CONFIG's name"
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=256, help="Workers.", show_default="one for each free core"
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="S", help="Play with this seed instead of the configured one."),
    ] = None,
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
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move old results aside and begin again.")
    ] = False,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out bots that cannot start.")
    ] = False,
    no_pin: Annotated[
        bool, typer.Option("--no-pin", help="Do not keep each worker on a core of its own.")
    ] = False,
    no_sandbox: Annotated[
        bool,
        typer.Option("--no-sandbox", help="Run bots without any protection against malice."),
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Play on the Dask cluster with this scheduler, or `local` for one started here.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Keep the site current during the run.")
    ] = False,
) -> None:
    """Play a tournament and print its ranking.

    On an unfinished folder it continues: only what is missing is played. On a finished one it
    prints the table.
    """
    with plain_ctrl_c():
        from runner.config import load_config

        loaded = load_config(config, seed=seed, skip_broken=skip_broken)

        from contextlib import closing

        from runner.cli.live import LiveReporter
        from runner.cli.reporting import make_reporter
        from runner.cli.texts import print_table
        from runner.publish.certainty import short_schedule
        from runner.results.store import FILE_NAME, Store
        from runner.run.roster import entered
        from runner.run.tournament import RunChoices
        from runner.run.tournament import run as run_tournament

    choices = RunChoices(
        folder=out or Path("results") / loaded.path.stem,
        again=shlex.join(["tourney", *(word for word in sys.argv[1:] if word != "--fresh")]),
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
        typer.echo(f"why bots failed: {choices.folder / 'logs'}")
    typer.echo(f"the page: {choices.folder / 'index.html'}")


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("run")(run)
