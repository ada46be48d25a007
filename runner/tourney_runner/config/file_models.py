"""Models of the files' content, from which the JSON Schema is generated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from tourney_runner.config.field_types import (  # noqa: TC001 - pydantic reads annotations at run time
    Command,
    Commands,
    Environment,
    Line,
    Name,
    OptionalLine,
    OptionalName,
    Seed,
)
from tourney_runner.config.models import RunConfig, Section

__all__ = [
    "BotGrants",
    "BotManifest",
    "BotReference",
    "ConfigFile",
    "InlineBot",
    "MatchFile",
    "Settings",
]


class MatchFile(Section):
    """The match of one table."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependentSchemas": {
                key: {"properties": {"duplicate": {"enum": [False, 0]}}, "required": ["duplicate"]}
                for key in ("deals", "target")
            }
        }
    )

    duplicate: bool | Annotated[int, Field(ge=0)] = True
    """The same cards once per rotation of the seats (true), in that number of rotations, or fresh
    deals (false)."""
    deals: int | None = Field(default=None, ge=1, le=1_000_000)
    """With ``duplicate: false``: fresh deals in a match, 1 unless there is a `target`."""
    target: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """With ``duplicate: false``: points that end a match."""


class BotManifest(Section):
    """A bot's own file, ``bot.yaml`` in its folder; paths in it are relative to that folder."""

    name: Name
    command: Command
    """The command that starts the bot. ``{python}`` is the interpreter that runs the tournament."""
    build: Commands | None = None
    """The commands that compile it, run once in a copy of the folder."""
    language: Line = ""
    author: Line = ""
    games: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The games it plays, or families such as ``openspiel``; any if left out."""


class BotGrants(Section):
    """Settings of a bot that only the tournament's configuration can make."""

    env: Environment | tuple[str, ...] = Field(default={})
    """Variables that the bot gets: ``{NAME: value}``, or ``[NAME]`` for the organiser's own."""
    trusted: bool = False
    """Whether the organiser vouches for the bot: it may play where no sandbox works."""
    network: bool = False
    """Whether the bot may use the network."""
    devices: tuple[str, ...] = Field(
        default=(), json_schema_extra={"items": {"type": "string", "pattern": "^/dev/"}}
    )
    """Devices that the bot may use, such as ``/dev/dri/renderD128``."""
    data: tuple[str, ...] = ()
    """Files and folders that the bot may read, absolute or relative to this file."""
    tools: tuple[str, ...] = ()
    """Folders of programs that the bot and its build may run, such as ``/opt/go``, where they are
    not the system's or a version manager's; the bot sees all that is in them."""
    team: Name | None = None
    """The bot's team, such as its author: two of a team never sit at one table."""
    reference: bool = False
    """Whether the bot is measured against the field and not ranked in it, like a bot of the
    organiser's."""


class BotReference(BotGrants):
    """A folder with a ``bot.yaml``, entered under another name or with rights."""

    bot: str = Field(min_length=1)
    """The folder, relative to this file."""
    name: OptionalName = None
    """The name in this tournament; the one in ``bot.yaml`` if left out."""


class InlineBot(BotManifest, BotGrants):
    """A bot described in the tournament's own file."""

    cwd: str | None = Field(default=None, min_length=1)
    """The folder with its files, relative to this file; it is copied and the bot runs there."""


class Settings(RunConfig):
    """The keys of a tournament's file that depend on no other key."""

    name: OptionalLine = None
    """The tournament's name; the file's name if left out."""
    seed: Seed | None = None
    """The source of all cards. ``secret``, or nothing: drawn at the first run and shown when the
    tournament is closed. A number is public: a bot that guesses it knows every hand."""
    match: MatchFile = Field(default_factory=MatchFile)


class ConfigFile(Settings):
    """A tournament of bots."""

    game: str
    """The game."""
    rules: dict[str, Any] = Field(default={})
    """Options of the game, as listed by ``tourney games GAME``."""
    bots: tuple[str | BotReference | InlineBot, ...]
    """The entrants: folders with a ``bot.yaml``, such folders under another name, or bots that
    are described here."""
    schedule: dict[str, Any] = Field(default={})
    """The `format` and its options."""
