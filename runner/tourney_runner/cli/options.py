"""Arguments and options that several commands share.

They are types for the commands' signatures; what is left out is there as `None` or `False`.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BotFolder",
    "BotName",
    "ConfigFile",
    "Dask",
    "Fresh",
    "Jobs",
    "Json",
    "LeaguePath",
    "NoMigrate",
    "NoPin",
    "NoSandbox",
    "Out",
    "ResultsDir",
    "SameBots",
    "Seed",
    "SkipBroken",
    "Undo",
    "number",
    "this_command",
    "whole_number",
]


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers for `typer.Option`, with an error in plain words."""

    def parse(text: str | int) -> int:
        text = str(text)  # some versions of typer pass a default through here
        if re.fullmatch(r"-?[0-9]{1,18}", text) and least <= int(text) <= most:
            return int(text)
        raise typer.BadParameter(
            f"found {text[:60]!r}, expected a whole number from {least:,} to {most:,}"
        )

    return parse


def number(text: str) -> float:
    """Parse a number for `typer.Option`, with an error in plain words."""
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"found {text[:60]!r}, expected a number") from error


ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The tournament's YAML file.", show_default=False)
]
ResultsDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)
]
BotFolder = Annotated[
    Path,
    typer.Argument(metavar="BOT", help="The bot's folder, with its bot.yaml.", show_default=False),
]
BotName = Annotated[str, typer.Argument(metavar="NAME", help="The bot's name.", show_default=False)]
LeaguePath = Annotated[
    Path,
    typer.Argument(
        metavar="LEAGUE",
        help="The league's configuration, or the folder that it is in.",
        show_default=False,
    ),
]

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Folder for the results.", show_default="results/, named after CONFIG"
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        metavar="S", help="Deal from this seed (or secret) instead of the configured one."
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Move old results aside and begin again.")]
SkipBroken = Annotated[
    bool,
    typer.Option("--skip-broken", help="Leave out bots that are entered wrongly or cannot start."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=whole_number(1, 256),
        help="Workers.",
        show_default="one for each free core",
    ),
]
NoMigrate = Annotated[
    bool, typer.Option("--no-migrate", help="Refuse results of an older version.")
]
NoPin = Annotated[
    bool, typer.Option("--no-pin", help="Do not pin each worker to a core of its own.")
]
NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Run bots without any protection against malice.")
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on the Dask cluster with this scheduler, or `local` for one started here.",
    ),
]
SameBots = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="CONFIG",
        help="A configuration that enters the same bots, if they are not cached.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Undo = Annotated[bool, typer.Option("--undo", help="Undo it.")]


def this_command() -> str:
    """Return the typed command without ``--fresh``, for continuing an interrupted run."""
    return shlex.join(["tourney", *(word for word in sys.argv[1:] if word != "--fresh")])
