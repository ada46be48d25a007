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
            help="python (py), javascript (js), typescript (ts), c, cpp (c++), rust (rs), go, "
            "java, ruby (rb), lua, perl (pl) or shell (sh).",
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make; its name is the bot's.")
    ],
    *,
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME", help="A game that it will play; may be repeated.", show_default="all"
        ),
    ] = None,
) -> None:
    """Make a starter kit: a small bot, ready to be changed.

    It plays random legal moves and needs nothing but its language.
    """
    from tourney_runner.kits import create, installation, kit_of

    kit = kit_of(language)
    files = create(kit, folder, game or ())
    typer.echo(f"created a bot in {kit.language} in {folder}:")
    for file in files:
        typer.echo(f"  {file.relative_to(folder)}")
    for program in kit.missing():
        source = installation(program)
        hint = f" ({source})" if source else ""
        typer.echo(f"this machine lacks {program}, so install it first{hint}", err=True)
    check = shlex.join(["tourney", "check", str(folder)])
    typer.echo(f"\nmake it better: {kit.change}\ntry it:         {check}")
