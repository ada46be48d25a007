"""``tourney new-game``: a game that runs at once, to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["new_game"]


def new_game(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make; its name is the game's.")
    ],
) -> None:
    """Make the package of a game, with its tests, to build on.

    It is a small card game that runs at once.
    """
    from tourney_runner.gamekit.package import create

    files = create(folder)
    typer.echo(f"a game is in {folder}:")
    for file in files:
        typer.echo(f"  {file.relative_to(folder)}")
    install = shlex.join(["pip", "install", "-e", str(folder)])
    typer.echo(f"\ninstall it: {install}\ncheck it:   tourney check-game {folder.resolve().name}")
