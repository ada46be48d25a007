"""Models of a configuration: the files' content, and the checked and frozen values made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
)

from tourney_runner.config.field_types import (
    Command,
    Commands,
    Environment,
    Line,
    Name,
    OptionalLine,
    OptionalName,
    Seed,
    WebAddress,
)
from tourney_runner.games.base import GameOptions
from tourney_runner.play.play_settings import BotTimeConfig, MatchConfig, PlayConfig, Section
from tourney_runner.process.launcher import Rights
from tourney_runner.process.sandbox.selection import Mode
from tourney_runner.schedule.base import FormatOptions

__all__ = [
    "BotGrants",
    "BotManifest",
    "BotReference",
    "Config",
    "ConfigFile",
    "Entrant",
    "InlineBot",
    "MatchFile",
    "PublishConfig",
    "RatingConfig",
    "RunConfig",
    "ScheduleConfig",
    "Settings",
    "SkippedBot",
]


def _chance(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(
            f"found {value:g}, expected more than 0 and less than 1: bots that forfeit can tie, "
            "which a rating without draws could not explain"
        )
    return value


class RatingConfig(Section):
    """The rating of bots: the constants of the model and the order of updates."""

    mu: float = Field(default=25.0, allow_inf_nan=False)
    """The initial mean of every bot."""
    sigma: float = Field(default=25 / 3, gt=0, allow_inf_nan=False)
    """The initial uncertainty of every bot."""
    beta: float = Field(default=25 / 6, gt=0, allow_inf_nan=False)
    """The variation of a bot's play from deal to deal."""
    tau: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The standard deviation by which a bot's skill drifts, in units of mu: from one round to the
    next, or with ``update: sequential`` from one of its deals to the next. Bots do not change, so
    it is 0 by default."""
    draw_probability: Annotated[float, AfterValidator(_chance)] | None = Field(
        default=None, json_schema_extra={"exclusiveMinimum": 0, "exclusiveMaximum": 1}
    )
    """The probability that two equal bots tie; null for the game's own. Never 0, since forfeits
    tie."""
    update: Literal["order_free", "sequential", "through_time"] | None = None
    """All deals at once, independent of their order (``order_free``), all at once with skills that
    drift from round to round (``through_time``), or one after the other (``sequential``); null for
    the first, or for the second where there is a ``tau``."""
    rank_by: Literal["estimate", "score"] = "estimate"
    """Whether the table is ranked by ``mu``, the estimate, or by ``mu - 3 sigma``, the score."""

    @field_validator("update")
    @classmethod
    def _drift_has_an_order(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value == "order_free" and info.data.get("tau"):
            raise ValueError(
                "found order_free beside a tau above 0: skills that drift from deal to deal have"
                " an order, expected through_time or sequential, or tau: 0"
            )
        if value == "through_time" and not info.data.get("tau"):
            raise ValueError("found through_time without a tau above 0, by which skills drift")
        return value

    @property
    def updating(self) -> Literal["order_free", "sequential", "through_time"]:
        """`update`, resolved."""
        return self.update or ("through_time" if self.tau else "order_free")

    def constants(self, usual_draw: float) -> dict[str, float]:
        """Return the constants of `ratings.model.Model`, by name.

        Args:
            usual_draw: The game's own `draw_probability`.
        """
        given = self.model_dump(exclude={"update", "rank_by"})
        return given | {"draw_probability": self.draw_probability or usual_draw}


class PublishConfig(Section):
    """The content of the published pages. It may change at any time: pages are written again."""

    title: Line | None = None
    """The heading of the pages; the tournament's name if left out."""
    url: WebAddress | None = None
    """The address at which the site is published, for the feed and for link previews."""
    logs: Literal["none", "first_line", "all"] = "first_line"
    """The amount of a bot's logged failures that is shown. ``all`` can reveal source lines."""
    debug: bool = False
    """Whether replays show the ``debug`` notes that bots sent with their answers."""
    replays: int = Field(default=200, ge=0, le=100_000)
    """The largest number of replays; 5 to 30 KB each in Tien Len, 20 to 300 KB in Speahx."""
    choice: Literal["highlights", "first", "last", "spread"] = "highlights"
    """The choice of deals for replays where there are more: the bots' best and worst deals and
    those with faults, the first, the last, or deals at equal distances."""


class ScheduleConfig(Section):
    """The pairing of bots."""

    format: str
    """The name of a format in `schedule.registry`."""
    options: SerializeAsAny[FormatOptions]
    """The format's own options, as `schedule.registry.make` takes them."""

    @property
    def rounds(self) -> int | None:
        """The configured number of rounds; None where the format decides."""
        return getattr(self.options, "rounds", None)


class Entrant(Section):
    """One bot of a tournament, not yet staged."""

    number: int
    """Its place among the entrants, from 0."""
    name: str
    """Composed Unicode on one line, unique without regard to case."""
    folder: Path | None
    """Its sources, absolute; None for a command that needs no files."""
    command: tuple[str, ...]
    """The command as written: ``{python}`` is the interpreter that runs this program; relative
    paths are relative to `folder`."""
    build: tuple[tuple[str, ...], ...] | None = None
    """Commands that are run once in a copy of the folder."""
    language: str = ""
    author: str = ""
    games: tuple[str, ...] | None = None
    """The games it plays; None for any."""
    env: dict[str, str] = Field(default={})
    """Variables that the tournament gives it."""
    trusted: bool = False
    """Whether the tournament's configuration vouches for it."""
    rights: Rights = Rights()
    """The rights that the tournament grants it beyond its own folder."""
    team: str | None = None
    """Two of a team never sit at one table."""
    reference: bool = False
    """Whether it is measured and not ranked."""
    time: BotTimeConfig | None = None
    """Its own time limits, if it has any."""
    anchor: float | None = None
    """The rating that it has by definition, if it is the anchor of the scale."""


class SkippedBot(Section):
    """A configured bot that is left out because its entry or program is wrong."""

    name: str
    why: str
    """The reason, in one line."""


class RunConfig(PlayConfig):
    """The settings of a run that are the same in files and in the program."""

    clock: Literal["fair", "wall"] = "fair"
    """The time that a late answer is charged: the bot's own (fair), or all of it (wall)."""
    sandbox: Mode = "auto"
    """The confinement of bots: the best sandbox that works here (auto), a named one, resource
    limits alone, or nothing."""
    build_network: bool = False
    """Whether building a bot may use the network."""
    bench_after: int = Field(default=10, ge=0, le=1_000_000)
    """Failed deals in a row, at least those of one round, after which a bot forfeits its further
    deals unplayed; 0 for never."""
    executor: Literal["local", "dask"] = "local"
    """The workers: of this machine, or of a Dask cluster at the address that ``--dask`` or the
    variable ``DASK_SCHEDULER_ADDRESS`` gives."""
    rating: RatingConfig = Field(default_factory=RatingConfig)
    publish: PublishConfig = Field(default_factory=PublishConfig)
    on_event: Command | None = None
    """A command that gets each event of the tournament as JSON on its standard input. It runs in
    the folder of this file. Secrets come from the environment."""


class Config(RunConfig):
    """A tournament, ready to be planned."""

    path: Path
    """The file that it was read from."""
    name: str
    game: str
    options: SerializeAsAny[GameOptions]
    """The game's own model, all rules."""
    seed: int | str | None
    """None for a secret seed, drawn at the first run. Seasons and comparisons derive texts."""
    entrants: tuple[Entrant, ...]
    schedule: ScheduleConfig
    match: MatchConfig
    skipped: tuple[SkippedBot, ...] = ()


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
    time: BotTimeConfig | None = None
    """The bot's own time limits in place of the tournament's, as a handicap. Pages show them."""
    anchor: float | None = Field(default=None, allow_inf_nan=False)
    """The rating (mu) that this bot has by definition. All ratings are shifted alike, so that the
    tables of several tournaments with the same bot have one scale. Only one bot can be the
    anchor."""


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
