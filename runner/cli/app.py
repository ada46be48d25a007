"""The commands together, and what their errors become."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from runner import __version__
from runner.cli import games, plan, run, schema, standings
from runner.errors import ConfigError, Interrupted, TourneyError

__all__ = ["app", "run_app"]

app = typer.Typer(
    help="Run tournaments of bots that play card games, and publish the ranking.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (run, standings, plan, games, schema):
    module.add(app)


def _version(value: bool) -> None:  # noqa: FBT001 - the signature that typer calls
    if value:
        typer.echo(f"tourney {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Run tournaments of bots that play card games, and publish the ranking."""


def run_app() -> int:
    """Run the command line; gives the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name must not end a run in a poor locale
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except ConfigError as error:
        typer.echo(str(error), err=True)
        return error.exit_status
    except Interrupted as error:
        typer.echo(str(error), err=True)
        return 128 + error.signal_number
    except TourneyError as error:
        typer.echo(f"tourney: {error}", err=True)
        return error.exit_status
    except BrokenPipeError:  # the reader of our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    return 0
