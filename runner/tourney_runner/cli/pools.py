"""``tourney pools``: divide a field into pools, and make the final of their best bots."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ConfigFile

__all__ = ["pools"]


class Seeding(StrEnum):
    """A way to divide bots among pools."""

    drawn = "drawn"
    listed = "listed"


pools = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Divide a field into pools, and make their final.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@pools.command("draw")
def draw(
    config: ConfigFile,
    *,
    pools: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="The number of pools.")],
    seeding: Annotated[
        Seeding,
        typer.Option(
            metavar="drawn|listed",
            help="By lot, or balanced in the order of the file, the strongest bot first.",
        ),
    ] = Seeding.drawn,
    lot: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="The number that decides the lots.", show_default="a random one"
        ),
    ] = None,
) -> None:
    """Write a configuration for each pool beside the one of the whole field."""
    import secrets

    from tourney_runner.league.pools import draw_pools

    chance = secrets.randbelow(10**9) if lot is None else lot
    for path in draw_pools(config, pools, seeding.value, chance):
        typer.echo(f"tourney run {path}")


@pools.command("final")
def final(
    config: ConfigFile,
    *,
    first: Annotated[
        int, typer.Option(metavar="K", min=1, max=1000, help="Bots that go on from each pool.")
    ],
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder with the results of the pools.")
    ] = Path("results"),
    format: Annotated[  # noqa: A002 - it names the option
        str, typer.Option(metavar="NAME", help="The format of the final.")
    ] = "knockout",
) -> None:
    """Write the configuration of the final from the results of the pools."""
    from tourney_runner.league.pools import make_final

    made = make_final(config, results, first, format)
    for place, name in enumerate(made.names, 1):
        typer.echo(f"{place:3}. {name}")
    for note in made.notes:
        typer.echo(note, err=True)
    typer.echo(f"tourney run {made.path}")
