"""``tourney compare``: bots against each other."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.interrupt import plain_ctrl_c
from tourney_runner.cli.options import (
    Dask,
    Fresh,
    Jobs,
    NoMigrate,
    NoPin,
    NoSandbox,
    Out,
    Seed,
    SkipBroken,
    number,
    this_command,
    whole_number,
)

if TYPE_CHECKING:
    from tourney_runner.config import Config
    from tourney_runner.ratings.gsprt import Rule
    from tourney_runner.run.tournament import RunOptions

__all__ = ["compare"]

_DEALS = 400
"""Of more than two bots."""


class Unit(StrEnum):
    """The unit of `--d0` and `--d1`."""

    sd = "sd"
    places = "places"


def compare(  # noqa: PLR0913 - each is an option
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[CONFIG A B | BOT BOT [BOT ...]]",
            help="A tournament's file and two of its bots, or the folders of two or more bots.",
            show_default=False,
        ),
    ],
    *,
    deals: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole_number(1, 10_000_000),
            help="Play about N deals and show the table. Without it two bots play until it is"
            " decided whether the first is better, and more than two play 400 deals.",
            show_default=False,
        ),
    ] = None,
    game: Annotated[
        str, typer.Option(metavar="GAME", help="The game, for bots without a tournament.")
    ] = "tienlen",
    d0: Annotated[
        float,
        typer.Option(metavar="LEAD", parser=number, help="Not better: A is ahead by d0 at most."),
    ] = 0.0,
    d1: Annotated[
        float,
        typer.Option(metavar="LEAD", parser=number, help="Better: A is ahead by d1 at least."),
    ] = 0.1,
    unit: Annotated[
        Unit,
        typer.Option(
            metavar="sd|places",
            help="Of d0 and d1: standard deviations of the lead in a match, or places.",
        ),
    ] = Unit.sd,
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
    no_migrate: NoMigrate = False,
    skip_broken: SkipBroken = False,
    jobs: Jobs = None,
    no_pin: NoPin = False,
    no_sandbox: NoSandbox = False,
    dask: Dask = None,
) -> None:
    """Compare bots, with or without a tournament.

    CONFIG A B: both sit at every table, with the others of the tournament in turn. BOT BOT: the
    two play each other. Either ends as soon as a sequential test has its verdict: A is better, not
    better, or undecided after the cap. With --deals, or with more than two bots, all of them play a
    fixed number of deals. An interrupted comparison is continued by the same command.
    """
    with plain_ctrl_c():
        from tourney_runner.compare.head_to_head import comparison_name, duel
        from tourney_runner.compare.several_bots import fixed_length, table_of
        from tourney_runner.config import load_config
        from tourney_runner.errors import UsageError
        from tourney_runner.ratings.gsprt import Rule
        from tourney_runner.run.tournament import RunOptions

    try:
        rule = Rule(d0=d0, d1=d1, alpha=alpha, beta=beta, cap=cap, unit=unit.value)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if Path(words[0]).is_dir():
        if len(words) < 2:
            raise UsageError(f"{words[0]}: one bot alone cannot be compared; name another one")
        found = table_of([Path(word) for word in words], game, seed)
        names = [entrant.name for entrant in found.entrants]
        stem = ""
    else:
        found = load_config(Path(words[0]), seed=seed, skip_broken=skip_broken)
        names, stem = words[1:], found.path.stem
        if len(names) != 2 or deals is not None:
            raise UsageError(
                f"{words[0]} is not the folder of a bot; expected a tournament's file followed by"
                " the names of two of its bots, without --deals, or the folders of two or more bots"
            )
    options = RunOptions(
        folder=out or Path("results") / comparison_name(stem, *names),
        again=this_command(),
        jobs=jobs,
        pin=not no_pin,
        dask=dask,
        fresh=fresh,
        migrate=not no_migrate,
        skip_broken=skip_broken,
        sandbox="off" if no_sandbox else None,
    )
    if len(names) == 2 and deals is None:
        _test(duel(found, names[0], names[1], rule), rule, options)
    else:
        _play(fixed_length(found, deals or _DEALS), options)


def _test(config: Config, rule: Rule, options: RunOptions) -> None:
    from tourney_runner.cli.run_progress import make_reporter
    from tourney_runner.compare.head_to_head import compare_bots

    result = compare_bots(config, rule, options, make_reporter())
    typer.echo("\n".join(result.lines()))
    _print_worst_deals(options.folder, [result.a, result.b])


def _play(config: Config, options: RunOptions) -> None:
    from tourney_runner.cli.output import print_table
    from tourney_runner.cli.run_progress import make_reporter
    from tourney_runner.run.tournament import run

    print_table(run(config, options, make_reporter()))
    _print_worst_deals(options.folder, [entrant.name for entrant in config.entrants])


def _print_worst_deals(folder: Path, names: list[str]) -> None:
    from tourney_runner.compare.several_bots import worst_deals

    for line in worst_deals(folder, names):
        typer.echo(line)
    typer.echo(f"to watch one: {shlex.join(['tourney', 'replay', str(folder), 'DEAL'])}")
