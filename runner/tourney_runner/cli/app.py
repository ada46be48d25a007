"""The program with all its commands, and the exit status of each error."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from tourney_runner import __version__
from tourney_runner.cli.interrupt import plain_ctrl_c
from tourney_runner.errors import ConfigError, Interrupted, TourneyError

__all__ = ["app", "run_app", "run_command"]

SECTIONS = {
    "A tournament": ("plan", "run", "workers", "standings", "compare", "pools"),
    "Its results": ("publish", "serve", "replay", "export"),
    "A contest over weeks": (
        "season",
        "league",
        "withdraw",
        "disqualify",
        "unbench",
        "rerun",
        "verify",
        "audit",
        "backup",
        "restore",
        "prune",
    ),
    "A bot of your own": ("new", "check", "play", "submit"),
    "A game of your own": ("new-game", "check-game"),
    "Reference": ("docs", "games", "schema", "doctor"),
}
"""The names of all commands, in the order and under the headings of the help.

Each is the name of a module here and of a function in it, with a dash for each underscore.
"""


class _Commands(Mapping[str, Any]):
    """All commands by name, each imported and built when it is used: all of them take 40 ms."""

    def __getitem__(self, name: str) -> Any:
        if name not in [*self]:
            raise KeyError(name)
        return _built(name)

    def __iter__(self) -> Iterator[str]:
        return (name for names in SECTIONS.values() for name in names)

    def __len__(self) -> int:
        return sum(map(len, SECTIONS.values()))


@cache
def _built(name: str) -> Any:
    """Return a command, or a group of commands, as click runs it."""
    function = name.replace("-", "_")
    with plain_ctrl_c():
        found = getattr(import_module(f"tourney_runner.cli.{function}"), function)
    one = typer.Typer(rich_markup_mode=None)  # plain help takes half the time
    if isinstance(found, typer.Typer):
        one.add_typer(found, name=name)
    else:
        one.command(name)(found)
    return get_group(one).commands[name]


class _Sections(TyperGroup):
    """The group of all commands, listed under headings."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes | {"commands": _Commands()})

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """See `click.Group.format_commands`."""
        width = max(map(len, self.commands))
        for title, names in SECTIONS.items():
            rows = [(name, self.commands[name].get_short_help_str(80)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])


app = typer.Typer(
    cls=_Sections,
    help="Run tournaments of bots that play card games, and publish the ranking.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
