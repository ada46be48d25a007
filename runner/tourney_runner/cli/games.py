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
    *,
    cases: Annotated[
        bool,
        typer.Option(
            "--cases",
            help="Print the paths of the game's rule cases: JSON lines with a position, an action "
            "and whether it is legal, for the tests of a bot.",
        ),
    ] = False,
) -> None:
    """List the games, or the rules of one."""
    from tourney_runner.cli.output import game_list, game_options

    if cases:
        from tourney_runner.config.paths import rule_case_files
        from tourney_runner.errors import UsageError
        from tourney_runner.games import registry

        if game is None:
            raise UsageError("--cases: name the game, as in tourney games tienlen --cases")
        registry.game(game)
        for path in rule_case_files(game):
            typer.echo(path)
        return
    typer.echo(game_list() if game is None else game_options(game))
