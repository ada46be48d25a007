"""``tourney games``: what can be played, under which rules."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["games"]


def games(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="A game, to list its options.", show_default=False),
    ] = None,
) -> None:
    """List the games, or the rules of one."""
    from tourney_runner.cli.output import game_list, game_options

    typer.echo(game_list() if game is None else game_options(game))
