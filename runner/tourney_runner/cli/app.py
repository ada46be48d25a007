"""The program with all its commands, and the exit status of each error."""

from __future__ import annotations

import errno
import os
import signal
import sys
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tourney_runner import __version__
from tourney_runner.cli import (
    audit,
    backup,
    check,
    check_game,
    compare,
    disqualify,
    docs,
    doctor,
    export,
    games,
    league,
    new,
    new_game,
    plan,
    play,
    pools,
    prune,
    publish,
    replay,
    rerun,
    restore,
    run,
    schema,
    season,
    serve,
    standings,
    submit,
    unbench,
    verify,
    withdraw,
    workers,
)
from tourney_runner.errors import ConfigError, Interrupted, TourneyError

__all__ = ["app", "run_app", "run_command"]

SECTIONS = {
    "A tournament": (plan, run, workers, standings, compare, pools),
    "Its results": (publish, serve, replay, export),
    "A contest over weeks": (
        season,
        league,
        withdraw,
        disqualify,
        unbench,
        rerun,
        verify,
        audit,
        backup,
        restore,
        prune,
    ),
    "A bot of your own": (new, check, play, submit),
    "A game of your own": (new_game, check_game),
    "Reference": (docs, games, schema, doctor),
}
"""The modules of all commands, in the order and under the headings of the help.

Each module has a function of its own name, the command.
"""


def command_name(module: ModuleType) -> str:
    """Return the name of the command that a module has."""
    return module.__name__.rpartition(".")[2].replace("_", "-")


class _Sections(TyperGroup):
    """The group of all commands, listed under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """See `click.Group.format_commands`."""
        width = max(map(len, self.commands))
        for title, modules in SECTIONS.items():
            names = [command_name(module) for module in modules]
            rows = [(name, self.commands[name].get_short_help_str(80)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])


app = typer.Typer(
    cls=_Sections,
    help="Run tournaments of bots that play card games, and publish the ranking.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help takes half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)
for section in SECTIONS.values():
    for module in section:
        command = command_name(module)
        found = getattr(module, command.replace("-", "_"))
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=command)
        else:
            app.command(command)(found)


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
    """Run the command line; return the exit status."""
    # Shells start background programs with SIGINT ignored; one that is sent is meant anyway.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _open_streams()
    status = run_command()
    try:
        sys.stdout.flush()
    except OSError as error:  # the reader is gone, or the disk is full
        if status == 0 and error.errno != errno.EPIPE:
            typer.echo(f"tourney: {_said(error)}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return status or 1
    return status


def _said(error: OSError) -> str:
    """Return an error of the system in words; one without a file's name is of the output."""
    if error.errno == errno.ENOSPC and error.filename is None:
        return "the output cannot be written: no space is left where it goes; free some"
    return str(error)


def _open_streams() -> None:
    """Make the three streams usable, however the program was started."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next opened file would take its place
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name must not end a run in an ASCII locale
            stream.reconfigure(errors="backslashreplace")


def run_command() -> int:
    """Run the command that ``sys.argv`` names; return its exit status."""
    try:
        app(standalone_mode=True, prog_name="tourney")
    except TourneyError as error:
        whole = isinstance(error, ConfigError | Interrupted)  # these messages are complete
        typer.echo(str(error) if whole else f"tourney: {error}", err=True)
        return 128 + error.signal_number if isinstance(error, Interrupted) else error.exit_status
    except BrokenPipeError:  # the reader of the output has ended
        return 1
    except OSError as error:
        typer.echo(f"tourney: {_said(error)}", err=True)
        return 1
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    return 0
