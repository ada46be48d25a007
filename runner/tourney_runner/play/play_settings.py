"""The settings that decide how deals are played: times, limits and the match.

Configurations and stored results hold the same sections, so each setting is declared once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import msgspec
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
)

from tourney_runner.results.tournament_record import OwnTime, TimeChange
from tourney_runner.text import shown

if TYPE_CHECKING:
    from tourney_runner.results.tournament_record import TournamentRecord

__all__ = [
    "SIZE",
    "TIME",
    "BotTimeConfig",
    "LimitsConfig",
    "MatchConfig",
    "PlayConfig",
    "PlaySettings",
    "Quantity",
    "Section",
    "TimeConfig",
]


@dataclass(frozen=True)
class Quantity:
    """A number with a unit, stored as a whole number of the smallest unit.

    Its methods make the parts of a field's type: ``Annotated[int, TIME.reader, TIME.schema(1),
    TIME.between(1, 1000)]``. Values from a file need a unit; the program itself gives numbers.
    """

    name: str
    smallest: str
    units: dict[str, int]
    """The size of each unit in the smallest one, in ascending order."""
    suffix: str
    """A regular expression for what may follow a unit."""
    examples: str

    @property
    def pattern(self) -> str:
        """The accepted notation as a regular expression."""
        units = "|".join(self.units)
        return rf"^([0-9]{{1,12}}(?:\.[0-9]{{1,6}})?) ?({units}){self.suffix}$"

    def schema(self, least: int) -> WithJsonSchema:
        """Return the JSON Schema of the notation; only 0 needs no unit."""
        written = {"type": "string", "pattern": self.pattern}
        return WithJsonSchema(written if least else {"anyOf": [written, {"const": 0}]})

    @property
    def reader(self) -> BeforeValidator:
        """A validator that converts the notation to a number."""
        return BeforeValidator(self._read)

    def between(self, least: int, most: int) -> AfterValidator:
        """Return a validator of inclusive bounds."""

        def check(amount: int) -> int:
            if not least <= amount <= most:
                bounds = f"{self.written(least)} to {self.written(most)}"
                raise ValueError(f"found {self.written(amount)}, expected {bounds}")
            return amount

        return AfterValidator(check)

    def written(self, amount: int) -> str:
        """Return an amount in the notation of configurations: ``90s``, not ``1.5m``."""
        for unit, size in reversed(self.units.items()):
            if amount and amount % size == 0:
                return f"{amount // size}{unit}"
        return f"{amount}{self.smallest}" if amount else "0"

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        if info.mode == "python" or value == 0:
            return value
        found = re.match(self.pattern, value.strip()) if isinstance(value, str) else None
        if found:
            amount = Decimal(found[1]) * self.units[found[2]]
            if amount % 1:
                raise ValueError(f"found {shown(value)}, expected whole {self.smallest}")
            return int(amount)
        text = shown(value)
        bare = text.strip("'")
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", bare):
            small, larger = [*self.units][:2]
            raise ValueError(f"{text} has no unit: write {bare}{larger} or {bare}{small}")
        raise ValueError(f"found {text}, expected a {self.name} such as {self.examples}")


TIME = Quantity(
    name="time",
    smallest="ms",
    units={"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000},
    suffix="",
    examples="500ms, 2s or 1m",
)
SIZE = Quantity(
    name="size",
    smallest=" bytes",
    units={"K": 1024, "M": 1024**2, "G": 1024**3},
    suffix="(?:i?B)?",
    examples="64K, 512M or 1G",
)


_HOUR = 3_600_000
_KIB = 1024
_MIB = 1024 * _KIB
_GIB = 1024 * _MIB


class Section(BaseModel):
    """A part of a configuration. Files use the alias of a field, the program its name."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
        validate_by_alias=True,
    )


class TimeConfig(Section):
    """The time limits of a bot, in milliseconds; written as ``500ms``, ``2s``, ``1m``."""

    start_ms: Annotated[int, TIME.reader, TIME.between(1, _HOUR), TIME.schema(1)] = Field(
        default=10_000, alias="start", json_schema_extra={"default": "10s"}
    )
    """From the start of a bot's process to its ``ready`` message."""
    move_ms: Annotated[int, TIME.reader, TIME.between(1, _HOUR), TIME.schema(1)] = Field(
        default=1000, alias="move", json_schema_extra={"default": "1s"}
    )
    """For one answer."""
    bank_ms: Annotated[int, TIME.reader, TIME.between(0, 24 * _HOUR), TIME.schema(0)] = Field(
        default=0, alias="bank", json_schema_extra={"default": 0}
    )
    """Extra time for a whole deal, drawn on by answers that take longer than `move`."""


class BotTimeConfig(Section):
    """The time limits of one bot that differ from the tournament's: a handicap."""

    start_ms: Annotated[int, TIME.reader, TIME.between(1, _HOUR), TIME.schema(1)] | None = Field(
        default=None, alias="start"
    )
    """From the start of its process to its ``ready`` message; the tournament's if left out."""
    move_ms: Annotated[int, TIME.reader, TIME.between(1, _HOUR), TIME.schema(1)] | None = Field(
        default=None, alias="move"
    )
    """For one answer; the tournament's if left out."""
    bank_ms: Annotated[int, TIME.reader, TIME.between(0, 24 * _HOUR), TIME.schema(0)] | None = (
        Field(default=None, alias="bank")
    )
    """Extra time for a whole deal; the tournament's if left out."""


class LimitsConfig(Section):
    """The resource limits of one bot, in bytes; written as ``64K``, ``512M``, ``1G``."""

    memory: (
        Annotated[int, SIZE.reader, SIZE.between(8 * _MIB, 1024 * _GIB), SIZE.schema(8 * _MIB)]
        | None
    ) = Field(default=512 * _MIB, json_schema_extra={"default": "512M"})
    """Memory of a bot's process and all that it starts; null for no limit."""
    processes: int = Field(default=32, ge=1, le=4096)
    """Processes and threads of a bot at one time."""
    file_size: Annotated[int, SIZE.reader, SIZE.between(0, 64 * _GIB), SIZE.schema(0)] = Field(
        default=64 * _MIB, json_schema_extra={"default": "64M"}
    )
    """The size of any file that a bot writes."""
    temp: Annotated[int, SIZE.reader, SIZE.between(_MIB, 64 * _GIB), SIZE.schema(_MIB)] = Field(
        default=64 * _MIB, json_schema_extra={"default": "64M"}
    )
    """Temporary files of a bot at one time; only a sandbox enforces this limit."""
    output: Annotated[
        int, SIZE.reader, SIZE.between(4 * _KIB, 64 * _MIB), SIZE.schema(4 * _KIB)
    ] = Field(default=_MIB, json_schema_extra={"default": "1M"})
    """Output for one move; more is the fault ``flood``."""
    deal_output: Annotated[
        int, SIZE.reader, SIZE.between(4 * _KIB, 1024 * _MIB), SIZE.schema(4 * _KIB)
    ] = Field(default=16 * _MIB, json_schema_extra={"default": "16M"})
    """Output for all moves of a deal; more is the fault ``flood``."""
    stderr: Annotated[int, SIZE.reader, SIZE.between(0, 64 * _MIB), SIZE.schema(0)] = Field(
        default=64 * _KIB, json_schema_extra={"default": "64K"}
    )
    """Standard error that is kept; more is dropped."""


class MatchConfig(Section):
    """The match of one table."""

    duplicate: int
    """Rotations of the same cards, at most the number of players; 0 for fresh deals."""
    deals: int | None = None
    """Fresh deals in a match; None with duplicate deals, or where `target` ends it."""
    target: float | None = None
    """Points that end a match of fresh deals."""


class PlayConfig(Section):
    """The settings of play that a configuration makes for all matches."""

    time: TimeConfig = Field(default_factory=TimeConfig)
    limits: LimitsConfig = Field(default_factory=LimitsConfig)
    ponder: bool = False
    """Whether bots may think while others are to move."""
    on_fault: Literal["forfeit", "substitute"] = "forfeit"
    """The cost of a fault: the deal (forfeit), or a move that the game chooses (substitute)."""
    max_faults: int = Field(default=3, ge=1, le=1_000_000)
    """With ``on_fault: substitute``: faults in a match before the bot forfeits."""
    max_moves: int = Field(default=5000, ge=1, le=9000)
    """Moves after which a deal is ended: those still in share a place, and nobody gets points."""
    restart: Literal["fault", "match"] = "fault"
    """The time at which a bot's process is renewed: after a fault, or for every match."""
    strict: bool = False
    """Whether a line of output that is not a message is a fault."""
    reveal_names: bool = False
    """Whether bots see each other's names."""


_NESTED: dict[str, type[Section]] = {
    "time": TimeConfig,
    "limits": LimitsConfig,
    "match": MatchConfig,
}
"""The sections of `PlaySettings`. Results store their fields beside the others, in one level; no
two fields have the same name."""
_ELSEWHERE = {"game", "rules", "master_seed", "later_seeds", "own_times", "time_changes"}
"""The settings that have fields of their own in a `TournamentRecord`."""


def _as_stored(kind: Any) -> BeforeValidator:
    """Return a validator that also reads values of the stored record from their plain form."""
    return BeforeValidator(partial(msgspec.convert, type=kind))


class PlaySettings(PlayConfig):
    """All settings that decide how the deals of a tournament are played."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    game: str
    rules: dict[str, Any]
    """All rules in force."""
    master_seed: str
    match: MatchConfig
    later_seeds: tuple[tuple[int, str], ...] = ()
    """Pairs (first round, seed), ascending. From that round on, the seed replaces `master_seed`."""
    own_times: Annotated[dict[int, OwnTime], _as_stored(dict[int, OwnTime])] = {}
    """The bots' own time limits in the first rounds, by entrant."""
    time_changes: Annotated[tuple[TimeChange, ...], _as_stored(tuple[TimeChange, ...])] = ()
    """Later time limits, by ascending first round."""

    def time_of(self, round_number: int, entrant: int) -> TimeConfig:
        """Return the time limits of an entrant in a round."""
        own, time = self.own_times.get(entrant), self.time
        for change in self.time_changes:
            if change.first_round > round_number:
                break
            time = TimeConfig(
                start_ms=change.start_ms, move_ms=change.move_ms, bank_ms=change.bank_ms
            )
            own = change.own.get(entrant, own)
        return time.model_copy(update=own.limits) if own else time

    def time_changes_before(self, round_number: int) -> int:
        """Return the number of changes of time limits that are in force in a round."""
        return sum(change.first_round <= round_number for change in self.time_changes)

    def seed_of(self, round_number: int) -> str:
        """Return the seed from which a round's cards, lots and bot seeds are derived."""
        seed = self.master_seed
        for first, later in self.later_seeds:
            if round_number >= first:
                seed = later
        return seed

    def with_changes(self, **changes: Any) -> Self:
        """Return these settings with other values for fields of any section.

        The values are not checked, so a debugger may exceed the limits of configurations.
        """
        for section, model in _NESTED.items():
            inner = {name: changes.pop(name) for name in model.model_fields if name in changes}
            if inner:
                changes[section] = getattr(self, section).model_copy(update=inner)
        if unknown := changes.keys() - type(self).model_fields.keys():
            raise TypeError(f"there are no settings {sorted(unknown)}")
        return self.model_copy(update=changes)

    @classmethod
    def of(cls, record: TournamentRecord) -> Self:
        """Return the stored settings of a tournament."""
        elsewhere = {
            "game": record.game,
            "rules": record.rules,
            "master_seed": record.seed.master,
            "later_seeds": [(one.first_round, one.master) for one in record.later_seeds],
            "own_times": {bot.number: bot.time for bot in record.entrants if bot.time},
            "time_changes": record.time_changes,
        }
        return cls.stored(record.play | elsewhere)

    @classmethod
    def stored(cls, values: dict[str, Any]) -> Self:
        """Return settings from values in one level, as results store them.

        A value that an earlier version did not store has the default of its field.

        Raises:
            pydantic.ValidationError: A value is wrong, or one without a default is missing.
        """
        rest = dict(values)
        for section, model in _NESTED.items():
            rest[section] = {name: rest.pop(name) for name in model.model_fields if name in rest}
        return cls.model_validate(rest)

    def to_store(self) -> dict[str, Any]:
        """Return the settings that have no field of their own in a `TournamentRecord`."""
        values = self.model_dump(exclude=_ELSEWHERE)
        for section in _NESTED:
            values |= values.pop(section)
        return values
