"""The description of a tournament that is stored beside its deals.

One record holds the configuration, the entrants, the conditions of play and the progress of the
tournament. A run writes it before the first deal; everything published reads it from there.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tourney_runner.process.launcher import Rights
from tourney_runner.process.sandbox import Mode
from tourney_runner.ratings.table import Anchor

__all__ = [
    "Conditions",
    "EntrantFacts",
    "EntrantRecord",
    "LaterSeed",
    "OwnTime",
    "Schedule",
    "Seed",
    "Stage",
    "TimeChange",
    "TournamentRecord",
    "time_words",
]

_EARLIER = " | earlier: "


class Seed(msgspec.Struct, frozen=True):
    """The master seed of a tournament."""

    value: int | str
    secret: bool
    """Whether it is kept from the public until the tournament is closed."""

    @property
    def master(self) -> str:
        """The text that all other seeds are derived from."""
        return str(self.value)


class LaterSeed(msgspec.Struct, frozen=True, array_like=True):
    """A new secret seed, drawn when a tournament was reopened after its seed had been published."""

    first_round: int
    """The first round, from 0, whose cards come from it; pairings keep the first seed."""
    master: str


class Stage(msgspec.Struct, frozen=True):
    """Consecutive rounds with the same entrants."""

    entrants: tuple[int, ...]
    rounds: int
    newcomer: int | None = None
    """The entrant that sits at every table, to make up for the rounds that it has missed."""


class Schedule(msgspec.Struct, frozen=True):
    """The format of a tournament and its options."""

    format: str
    """A name in `schedule.registry`."""
    options: dict[str, Any]
    """The format's options as configured, without the rounds."""
    rounds: int | None
    """None for a format without that option."""
    format_rules: int = 1
    """Version of the rules for pairing, brackets and benching, see `schedule.base.FORMAT_RULES`."""


class OwnTime(msgspec.Struct, frozen=True):
    """The time limits of one bot that differ from the tournament's, in milliseconds.

    None stands for the tournament's limit.
    """

    start_ms: int | None = None
    move_ms: int | None = None
    bank_ms: int | None = None

    def __bool__(self) -> bool:
        return bool(self.limits)

    @property
    def limits(self) -> dict[str, int]:
        """The limits that differ, by name."""
        limits = msgspec.structs.asdict(self)
        return {name: limit for name, limit in limits.items() if limit is not None}

    def __str__(self) -> str:
        return time_words(self.start_ms, self.move_ms, self.bank_ms)


def time_words(start_ms: int | None, move_ms: int | None, bank_ms: int | None) -> str:
    """Return time limits in words, without those that are None."""
    parts = (
        None if start_ms is None else f"start {start_ms / 1000:g} s",
        None if move_ms is None else f"move {move_ms / 1000:g} s",
        None if bank_ms is None else f"bank {bank_ms / 1000:g} s a deal",
    )
    return ", ".join(filter(None, parts))


class TimeChange(msgspec.Struct, frozen=True, kw_only=True):
    """New time limits from some round on, decided by the organiser during the tournament."""

    first_round: int
    """The first round, from 0, that is played under these limits."""
    start_ms: int
    move_ms: int
    bank_ms: int
    own: dict[int, OwnTime] = {}
    """The own limits that changed, by entrant; an empty one means the tournament's limits."""
    reason: str
    """Shown to the public."""
    at: str
    """The time of the decision, ISO 8601 in UTC."""


class EntrantFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a bot that are the same in play and in storage."""

    number: int
    """Its index among the entrants, from 0."""
    name: str
    hash: str = ""
    """A hash of all inputs that determine how it plays: sources, command, build and variables.

    The name of the algorithm comes first, see `bots.sources.ALGORITHM`; earlier versions stored
    none. Empty for a person or a player inside this program.
    """
    language: str = ""
    author: str = ""
    executable: str = ""
    """The file behind the first word of its command, with links resolved. Only recorded."""

    @property
    def digits(self) -> str:
        """The hash without the name of its algorithm."""
        return self.hash.rpartition(":")[2]

    @property
    def facts(self) -> dict[str, Any]:
        """These facts alone, by name."""
        return {name: getattr(self, name) for name in EntrantFacts.__struct_fields__}


class EntrantRecord(EntrantFacts, frozen=True, kw_only=True):
    """A bot that has joined, or a person at a table of `tourney play`."""

    team: str | None = None
    rights: Rights | None = None
    """The rights that the organiser granted it; None where they were not stored."""
    time: OwnTime | None = None
    """Its own time limits when it joined; None for those of the tournament."""

    @property
    def granted(self) -> str:
        """The granted rights in words; empty if there are none."""
        return "" if self.rights is None else self.rights.describe()


class Conditions(msgspec.Struct, frozen=True):
    """Circumstances of play that may differ between the runs of one tournament."""

    protection: str
    clock: str
    """A description of the clock."""
    version: str
    """The version of tourney."""

    def after(self, before: Conditions) -> Conditions:
        """Return these conditions, followed by all earlier ones that differ."""
        return Conditions(
            *(
                _EARLIER.join(dict.fromkeys((now, *was.split(_EARLIER))))
                for now, was in zip(
                    msgspec.structs.astuple(self), msgspec.structs.astuple(before), strict=True
                )
            )
        )


class TournamentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The stored data of a tournament besides its deals and rulings.

    A field that a later version adds has a default: the value that stands for the behaviour of the
    versions without that field, so that their records keep their meaning.
    """

    kind: Literal["tournament", "table"] = "tournament"
    """``table`` for the deals of a person (`tourney play`)."""
    name: str
    game: str
    rules: dict[str, Any]
    """All rules in force."""
    differing: dict[str, Any]
    """The rules that are not the defaults of the game."""
    play: dict[str, Any]
    """The remaining settings of play, see `play.play_settings.PlaySettings`."""
    limits: str
    """The limits in words."""
    seed: Seed
    schedule: Schedule | None
    """None for a person's table."""
    bench_after: int = 10
    """Consecutive failed deals after which a bot is benched; 0 for never."""
    clock: Literal["fair", "wall"] = "fair"
    sandbox: Mode = "auto"
    """As configured."""
    build_network: bool = False
    """Whether building a bot could use the network."""
    rating: dict[str, float]
    """Constants of the rating model."""
    update: Literal["order_free", "sequential", "through_time"] = "order_free"
    """The method by which ratings are updated."""
    rank_by: Literal["score", "estimate"] = "score"
    """The value by which bots are ranked."""
    references: tuple[str, ...] = ()
    """Names of the bots that the format measures but does not rank."""
    anchor: Anchor | None = None
    """The bot whose rating is fixed."""
    entrants: tuple[EntrantRecord, ...]
    """By number."""
    conditions: Conditions
    started_in: Mode | None = None
    """The sandbox that the last run used; None before any deal was played."""
    publish: dict[str, Any] = {}
    """The choices for the published pages, see `publish.publish_options.PublishChoices`."""
    began: str | None = None
    """ISO 8601 in UTC."""
    ended: str | None = None
    complete: bool = False
    sealed: bool = False
    """Whether a secret seed is shown only when the tournament is closed. Earlier versions showed it
    when the tournament was complete, except in seasons."""
    closed: str | None = None
    """The time at which it was closed, ISO 8601 in UTC. From then on its seeds are public, and no
    deals are added."""
    time_changes: tuple[TimeChange, ...] = ()
    """Later time limits, by ascending first round; `play` and `entrants` hold the first ones."""
    later_seeds: tuple[LaterSeed, ...] = ()
    """The seeds of later rounds; all seeds but the last are public."""
    added: tuple[str, ...] = ()
    """Names of the bots that were entered on the command line."""
    skipped: tuple[str, ...] = ()
    """Names of the bots that were left out at the beginning because they could not start."""
    versions: dict[str, str] = {}
    """Configured name of each bot that joined as a new version, by its name here."""
    stages: tuple[Stage, ...] = ()
    """Stages of the schedule; none where the field has never changed."""
    stages_before: dict[int, tuple[Stage, ...]] = {}
    """The stages before each ruling, by the ruling's number."""
    held_until: dict[int, int] = {}
    """The first round for which each ruling that was undone no longer held, by its number."""
    remarks: tuple[str, ...] = ()
    """Remarks of the format about rounds, such as ties that the seeds decided."""

    @property
    def bots(self) -> dict[str, EntrantRecord]:
        """The entrants by name."""
        return {entrant.name: entrant for entrant in self.entrants}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entrants, by number."""
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def own_times(self) -> str:
        """The bots that joined with time limits of their own, and those limits, in words."""
        return "; ".join(f"{bot.name}: {bot.time}" for bot in self.entrants if bot.time)

    def described(self, change: TimeChange) -> str:
        """Return the new time limits of a change, and the first round that has them."""
        usual = time_words(change.start_ms, change.move_ms, change.bank_ms)
        own = "".join(
            f"; {self.names[entrant]}: {time or 'those of the tournament'}"
            for entrant, time in sorted(change.own.items())
        )
        return f"time limits from round {change.first_round + 1} on: {usual}{own}"

    @property
    def rounds(self) -> int | None:
        """The configured rounds; None for a format without that option."""
        return None if self.schedule is None else self.schedule.rounds

    @property
    def format_rules(self) -> int:
        """Version of the rules for pairing, brackets and benching."""
        return 1 if self.schedule is None else self.schedule.format_rules

    @property
    def seed_is_public(self) -> bool:
        """Whether the first seed may be shown."""
        return bool(self.later_seeds) or self.last_seed_is_public

    @property
    def last_seed_is_public(self) -> bool:
        """Whether the seed of the last rounds may be shown."""
        if not self.seed.secret or self.closed is not None:
            return True
        return self.complete and not self.sealed and not self.later_seeds
