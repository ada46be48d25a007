"""``tourney compare``: whether one bot is better than another."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from runner.cli import plain_ctrl_c

__all__ = ["add", "compare"]


def compare(  # noqa: PLR0913 - each is an option
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The tournament's YAML file.")],
    a: Annotated[str, typer.Argument(metavar="A", help="The bot that may be better.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The bot that it is compared with.")],
    *,
    d0: Annotated[
        float, typer.Option(help="Not better: A finishes so many places ahead of B at most.")
    ] = 0.0,
    d1: Annotated[
        float, typer.Option(help="Better: A finishes so many places ahead of B at least.")
    ] = 0.1,
    alpha: Annotated[
        float, typer.Option(help="How often `better` may be wrong where the lead is d0.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(help="How often `not better` may be wrong where the lead is d1.")
    ] = 0.05,
    cap: Annotated[
        int, typer.Option(min=20, max=1_000_000, help="Matches after which it stays undecided.")
    ] = 10_000,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the results.",
            show_default="results/CONFIG's name.compare-A-B",
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
        typer.Option(metavar="S", help="Deal from this seed instead of the configured one."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move old results aside and begin again.")
    ] = False,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out others that cannot start.")
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
) -> None:
    """Find out whether bot A is better than bot B, on fresh deals.

    Both sit at every table, with the others of the tournament in turn. Play ends as soon as a
    sequential test has its verdict: better, not better, or undecided after the cap. An
    interrupted comparison is continued by the same command.
    """
    with plain_ctrl_c():
        from runner.cli.reporting import make_reporter
        from runner.config import load_config
        from runner.errors import UsageError
        from runner.league.comparison import compare_bots, comparison_name, duel
        from runner.ratings.gsprt import Rule
        from runner.run.tournament import RunChoices

    try:
        rule = Rule(d0=d0, d1=d1, alpha=alpha, beta=beta, cap=cap)
    except ValueError as error:
        raise UsageError(str(error)) from error
    loaded = load_config(config, seed=seed, skip_broken=skip_broken)
    choices = RunChoices(
        folder=out or Path("results") / comparison_name(loaded.path.stem, a, b),
        again=shlex.join(["tourney", *(word for word in sys.argv[1:] if word != "--fresh")]),
        jobs=jobs,
        pin=not no_pin,
        dask=dask,
        fresh=fresh,
        skip_broken=skip_broken,
        sandbox="off" if no_sandbox else None,
    )
    finding = compare_bots(duel(loaded, a, b, rule), rule, choices, make_reporter())
    typer.echo("\n".join(finding.lines()))


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("compare")(compare)
