"""``tourney new``: a bot that runs at once, to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["new"]


def new(
    language: Annotated[
        str,
        typer.Argument(
            metavar="LANGUAGE",
            help="python, javascript, typescript, c, cpp, rust, go, java, perl or shell.",
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make; its name is the bot's.")
    ],
    *,
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME", help="A game that it will play; may be given again.", show_default="all"
        ),
    ] = None,
) -> None:
    """Make a starter kit: a small bot, ready to be changed.

    It plays by chance and needs nothing but its language.
    """
    from tourney_runner.kits import create, kit_of

    kit = kit_of(language)
    files = create(kit, folder, game or ())
    typer.echo(f"a bot in {kit.language} is in {folder}:")
    for file in files:
        typer.echo(f"  {file.relative_to(folder)}")
    if missing := kit.missing():
        programs = " and ".join(missing)
        typer.echo(f"this machine lacks {programs}, which it needs: install it first", err=True)
    check = shlex.join(["tourney", "check", str(folder)])
    typer.echo(f"\nmake it better: {kit.change}\ntry it:         {check}")
