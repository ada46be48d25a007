"""``tourney league``: begin a league, import submissions, show and publish all seasons."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tourney_runner.cli.options import BotName, LeaguePath, NoMigrate, Undo

__all__ = ["league"]

_TABLE = "table"


class Format(StrEnum):
    """A format of the table."""

    table = "table"
    json = "json"
    md = "md"


class _Group(TyperGroup):
    """The commands of leagues; a league alone means its table."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See `click.Group.parse_args`."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [_TABLE, *args]
        return super().parse_args(ctx, args)


league = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Begin a league, import bots, show and publish its table.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@league.command(_TABLE)
def table(
    league: LeaguePath,
    *,
    format: Annotated[  # noqa: A002 - it names the option
        Format, typer.Option(metavar="table|json|md", help="The format of the table.")
    ] = Format.table,
) -> None:
    """Print a league's table over all seasons.

    In each season a bot gets a point for every bot that ranks below it.
    """
    from tourney_runner.cli.terminal import stdout_console, write_exactly
    from tourney_runner.league.league_setup import find_league
    from tourney_runner.league.league_table import as_json, as_markdown, as_table, league_table

    whole = league_table(find_league(league).absolute())
    if format is Format.table:
        stdout_console().print(as_table(whole))
    else:
        write_exactly({Format.json: as_json, Format.md: as_markdown}[format](whole))


@league.command("init")
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the new league.")],
    *,
    game: Annotated[str, typer.Option(metavar="GAME", help="The game.")] = "tienlen",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The league's name.", show_default="the folder's"),
    ] = None,
) -> None:
    """Write a league's folder: its configuration and a place for bots."""
    import shlex

    from tourney_runner.league.league_setup import create_league

    path = create_league(folder, game=game, name=name)
    place = shlex.quote(str(folder))
    typer.echo(f"the league is set up: {path}")
    typer.echo(f"enter bots: tourney submit BOT {place}, or tourney league import SOURCE {place}")
    typer.echo(f"play a season: tourney season {place}")


@league.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="A folder or a ZIP file with a folder or ZIP file for each bot."
        ),
    ],
    league: LeaguePath,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Retire the entered versions of these bots.")
    ] = False,
) -> None:
    """Check the submissions of a class and enter the bots that pass.

    Exit status 1 if any of them was not entered.
    """
    from datetime import UTC, datetime

    from tourney_runner.botcheck.check_settings import tidy
    from tourney_runner.league.bulk_import import import_bots
    from tourney_runner.league.league_setup import find_league
    from tourney_runner.text import counted

    entered = refused = 0
    with tidy():
        for outcome in import_bots(
            source,
            find_league(league),
            replace=replace,
            today=datetime.now(UTC).date(),
        ):
            entered += outcome.name is not None
            refused += outcome.name is None
            if outcome.name is not None:
                typer.echo(f"entered      {outcome.source}: {outcome.name}")
            else:
                typer.echo(f"not entered  {outcome.source}: {outcome.why}")
    typer.echo(f"{counted(entered, 'bot')} entered, {refused:,} not")
    if refused:
        raise typer.Exit(1)


@league.command("publish")
def publish(
    league: LeaguePath,
    *,
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the site.")],
) -> None:
    """Write a site with a front page and all seasons.

    The front page has the table over all seasons, the moves, and the winner of each season.
    """
    from tourney_runner.league.league_setup import League, find_league
    from tourney_runner.league.league_table import publish_league
    from tourney_runner.process.stop_signals import StopSignals

    path = find_league(league).absolute()
    with StopSignals():
        publish_league(path, League(path).config.name, to)
    typer.echo(f"the site: {to / 'index.html'}")


@league.command("disqualify")
def disqualify(
    league: LeaguePath,
    bot: BotName,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason; it is published.")] = "",
    undo: Undo = False,
    no_migrate: NoMigrate = False,
) -> None:
    """Take a bot out of all seasons, also of those to come.

    Its deals count for no bot, and it does not play in seasons that begin later.
    """
    from tourney_runner.league.league_setup import find_league
    from tourney_runner.league.seasons import bar

    path = find_league(league).absolute()
    for line in bar(path, bot, None if undo else reason, migrate=not no_migrate):
        typer.echo(line)
    typer.echo(f"{bot} may play in coming seasons" if undo else f"{bot} plays in no coming season")
