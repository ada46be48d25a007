"""``tourney season``: play what is new in a league."""

from __future__ import annotations

from typing import Annotated

import typer

from tourney_runner.cli.options import Jobs, Json, LeaguePath, NoMigrate, this_command

__all__ = ["season"]


def season(  # noqa: PLR0913 - each is an option
    league: LeaguePath,
    *,
    season: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Begin this season, or continue it.", show_default="the last one"
        ),
    ] = None,
    close: Annotated[
        bool, typer.Option("--close", help="Close the season and show its secret seed.")
    ] = False,
    reopen: Annotated[
        bool, typer.Option("--reopen", help="Go on with a closed season, on a new secret seed.")
    ] = False,
    no_migrate: NoMigrate = False,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Play what is new in a season of a league.

    It prints what has changed since the last run, and is made for cron and CI: if there is nothing
    new, nothing is played. Bots that cannot start are left out, changed ones join as new versions,
    bots that are no longer entered are withdrawn. The results are in `seasons/NAME` beside the
    configuration.
    """
    from tourney_runner.atomic_write import write_whole
    from tourney_runner.cli.live import announcing
    from tourney_runner.cli.run_progress import make_reporter
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.config import load_config
    from tourney_runner.decisions.closing import close_tournament, seed_line
    from tourney_runner.league import changes, seasons
    from tourney_runner.league.league_setup import find_league
    from tourney_runner.league.league_table import as_json, as_markdown, league_table

    path = find_league(league).absolute()
    latest = seasons.current(path)
    name = season or latest
    choices = seasons.season_choices(
        path, name, again=this_command(), jobs=jobs, reopen=reopen, migrate=not no_migrate
    )
    earlier_seed = seasons.stored_text_seed_of(path, name)
    config = load_config(path, earlier_seed=earlier_seed, skip_broken=True)
    news = None
    with announcing(config, choices.folder, make_reporter()) as reporter:
        if not close or name == latest:  # an earlier season is closed as it is
            _, news = seasons.play_season(config, choices, reporter)
        closed = close_tournament(choices.folder, migrate=choices.migrate) if close else None
    table = league_table(path)
    write_whole(path.parent / seasons.SEASONS / "league.json", as_json(table))
    write_whole(path.parent / seasons.SEASONS / "league.md", as_markdown(table))
    if json:
        write_exactly((choices.folder / "changes.json").read_text(encoding="utf-8"))
        return
    if news is not None:
        typer.echo(changes.text(news))
    if closed is not None and config.seed is None:
        typer.echo(seed_line(closed))
