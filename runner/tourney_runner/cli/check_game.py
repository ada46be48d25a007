"""``tourney check-game``: whether a game keeps its contract."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import whole_number

__all__ = ["check_game"]


def check_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The name of an installed game.")],
    *,
    deals: Annotated[
        int,
        typer.Option(
            metavar="N", parser=whole_number(1, 1_000_000), help="Deals to play in each check."
        ),
    ] = 20,
) -> None:
    """Check that a game keeps the contract of tournaments."""
    from tourney_runner.errors import RunError
    from tourney_runner.gamekit.conformance import CHECKS, actions_a_second
    from tourney_runner.games import registry
    from tourney_runner.play.game_errors import GameErrors, loop_guard
    from tourney_runner.text import counted

    entry = registry.game(game)
    options = entry.options.model_validate({})
    failed = 0
    for check in CHECKS:
        for seed in range(deals):
            try:
                with GameErrors(entry), loop_guard(entry):
                    check.run(entry, options, seed)
            except Exception as error:  # noqa: BLE001 - the game's code may fail in any way
                failed += 1
                own = isinstance(error, (AssertionError, RunError))
                what = str(error) if own else repr(error)
                typer.echo(f"FAIL  {check.name}\n      with seed {seed}: {what}")
                break
        else:
            typer.echo(f"ok    {check.name}")
    if failed:
        typer.echo(f"{counted(failed, 'check')} failed: {game} is not ready for a tournament")
        raise typer.Exit(1)
    speed = actions_a_second(entry, options)
    typer.echo(f"{game} is ready for a tournament: {speed:,.0f} random actions a second")
