"""``tourney compare``: whether one bot is better than another."""

from __future__ import annotations

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
    number,
    this_command,
    whole_number,
)

__all__ = ["compare"]


def compare(  # noqa: PLR0913 - each is an option
    config: ConfigFile,
    a: Annotated[str, typer.Argument(metavar="A", help="The bot that may be better.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The bot that it is compared with.")],
    *,
    d0: Annotated[
        float,
        typer.Option(
            metavar="PLACES",
            parser=number,
            help="Not better: A finishes so far ahead of B at most.",
        ),
    ] = 0.0,
    d1: Annotated[
        float,
        typer.Option(
            metavar="PLACES", parser=number, help="Better: A finishes so far ahead of B at least."
        ),
    ] = 0.1,
    alpha: Annotated[
        float,
        typer.Option(
            metavar="P", parser=number, help="How often `better` may be wrong where the lead is d0."
        ),
    ] = 0.05,
    beta: Annotated[
        float,
        typer.Option(
            metavar="P",
            parser=number,
            help="How often `not better` may be wrong where the lead is d1.",
        ),
    ] = 0.05,
    cap: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole_number(20, 1_000_000),
            help="Matches after which it stays undecided.",
        ),
    ] = 10_000,
    out: Out = None,
    seed: Seed = None,
    fresh: Fresh = False,
    skip_broken: SkipBroken = False,
    jobs: Jobs = None,
    no_pin: NoPin = False,
    no_sandbox: NoSandbox = False,
    dask: Dask = None,
) -> None:
    """Find out whether one bot is better than another.

    Both sit at every table, with the others of the tournament in turn, on deals of their own.
    Play ends as soon as a sequential test has its verdict: better, not better, or undecided after
    the cap. An interrupted comparison is continued by the same command.
    """
    with plain_ctrl_c():
        from tourney_runner.cli.run_progress import make_reporter
        from tourney_runner.compare.head_to_head import compare_bots, comparison_name, duel
        from tourney_runner.config import load_config
        from tourney_runner.errors import UsageError
        from tourney_runner.ratings.gsprt import Rule
        from tourney_runner.run.tournament import RunOptions

    try:
        rule = Rule(d0=d0, d1=d1, alpha=alpha, beta=beta, cap=cap)
    except ValueError as error:
        raise UsageError(str(error)) from error
    loaded = load_config(config, seed=seed, skip_broken=skip_broken)
    choices = RunOptions(
        folder=out or Path("results") / comparison_name(loaded.path.stem, a, b),
        again=this_command(),
        jobs=jobs,
        pin=not no_pin,
        dask=dask,
        fresh=fresh,
        skip_broken=skip_broken,
        sandbox="off" if no_sandbox else None,
    )
    result = compare_bots(duel(loaded, a, b, rule), rule, choices, make_reporter())
    typer.echo("\n".join(result.lines()))
