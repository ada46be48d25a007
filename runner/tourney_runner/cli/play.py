"""``tourney play``: a person at the table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tourney_runner.cli.options import ConfigFile, NoMigrate

__all__ = ["play"]


def play(  # noqa: PLR0913 - each is an option
    config: ConfigFile,
    *,
    name: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Your name at the table.")
    ] = "you",
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT",
            help="A bot of the file by name, a bot's folder, or a number of bots of the file;"
            " may be repeated.",
            show_default="as many bots of the file as the table has seats",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the deals.", show_default="results/play-CONFIG's name"
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="N", help="Deal the cards from this seed.", show_default="random"),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move old deals there aside and begin again.")
    ] = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Play against bots in the terminal.

    The deals are kept like those of a tournament.
    """
    from tourney_runner.botcheck.check_settings import tidy
    from tourney_runner.cli.terminal import console_for_people
    from tourney_runner.config import load_config
    from tourney_runner.config.field_types import checked_seed
    from tourney_runner.human_play.play_session import play as play_deals
    from tourney_runner.human_play.play_setup import invite

    loaded = load_config(config, skip_broken=True, growing=True)
    folder = out or Path("results") / f"play-{loaded.path.stem}"
    chosen = "secret" if seed is None else checked_seed(seed, "--seed")
    master = None if chosen == "secret" else str(chosen)
    invitation = invite(loaded, name, against or (), folder, master)
    with tidy():
        deals = play_deals(invitation, console_for_people(), fresh=fresh, migrate=not no_migrate)
    if deals:
        look = shlex.join(["tourney", "replay", str(folder), "1"])
        typer.echo(f"deals kept in {folder}: {deals}; to look at one: {look}")
