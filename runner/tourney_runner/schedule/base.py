"""The interface of a tournament format, its values, and its reproducible random numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FORMAT_RULES",
    "Draw",
    "Field",
    "Format",
    "FormatOptions",
    "OptionError",
    "RoundResult",
    "Seating",
    "Table",
    "below",
    "choice",
    "draw",
    "permutation",
]


FORMAT_RULES = 3
"""Newest version of the rules for pairing, brackets and benching. A tournament keeps the version
that it began with.
"""

Seating = tuple[int, ...]
"""Entrant numbers by seat."""


class Table(msgspec.Struct, frozen=True):
    """A match of a round before it is played, with its seating in rotation 0."""

    round: int
    match: int
    """The number within its round, from 0."""
    seating: Seating


class RoundResult(msgspec.Struct, frozen=True):
    """The results of a finished round that a format may use.

    Points and mean place are by entrant number.
    """

    round: int
    points: dict[int, float]
    places: dict[int, float]
    tables: tuple[Seating, ...] = ()
    """The seating of each match in rotation 0."""
    gone: frozenset[int] = frozenset()
    """Entrants that take no part in the next round: withdrawn or disqualified before it began."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """The entrants of a tournament, as far as a schedule depends on them.

    Raises:
        UsageError: There are fewer entrants than seats, or lists of another length.
    """

    entrants: int
    players: int
    """Seats at one table, from 2."""
    seed: int
    """The tournament's master seed; formats derive their own from it."""
    teams: tuple[str | None, ...] = ()
    """The team of each entrant, None for a bot without one; empty if no bot has one. Members of the
    same team never sit at the same table.
    """
    names: tuple[str, ...] = ()
    """The entrants' names, for formats whose options name some of them."""
    format_rules: int = FORMAT_RULES
    """The version of the rules for pairing, brackets and benching that the tournament follows."""
    absent: frozenset[int] = frozenset()
    """Entrants that do not play now; used by formats that plan from results in which they did."""

    def __post_init__(self) -> None:
        if not 1 <= self.format_rules <= FORMAT_RULES:
            raise UsageError(
                f"this tournament is planned by version {self.format_rules} of the rules for"
                f" pairing; this version of tourney has 1 to {FORMAT_RULES}, so use a newer one"
            )
        there = len(self.present())
        if not 2 <= self.players <= there:
            raise UsageError(f"a table of {self.players} cannot be filled from {there} entrants")
        for what, given in (("teams", self.teams), ("names", self.names)):
            if given and len(given) != self.entrants:
                raise UsageError(f"{len(given)} {what} for {self.entrants} entrants")

    def present(self) -> list[int]:
        """Return the entrants that play."""
        return [entrant for entrant in range(self.entrants) if entrant not in self.absent]

    def numbered_teams(self) -> list[int] | None:
        """Return a number for each entrant, equal for members of the same team only.

        Returns None if no two entrants share a team.
        """
        if len({team for team in self.teams if team is not None}) == sum(
            team is not None for team in self.teams
        ):
            return None
        numbers: dict[str, int] = {}
        return [
            -1 - entrant if team is None else numbers.setdefault(team, len(numbers))
            for entrant, team in enumerate(self.teams)
        ]


class OptionError(UsageError):
    """An option that does not suit these entrants.

    Args:
        option: Its name, followed by the index of the faulty item if the option is a list.
        message: A description of the problem.
    """

    def __init__(self, option: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.option = option


class FormatOptions(BaseModel):
    """The options of a format; each format extends it.

    The fields are keys of ``schedule:`` beside ``format``. All have defaults and descriptions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


OptionsT = TypeVar("OptionsT", bound=FormatOptions)


class Format(ABC, Generic[OptionsT]):
    """A planner of rounds. It stores no results; they are passed to `plan`.

    Args:
        field: The entrants.
        options: A value of the class's own `options` model.

    Raises:
        UsageError: These entrants cannot play this format.
    """

    name: ClassVar[str]
    """The key in configurations: ``round-robin``."""
    summary: ClassVar[str]
    """A few words for the plan that is shown before play."""
    options: ClassVar[type[Any]]
    """The model of the options, a subclass of `FormatOptions`."""
    staged: ClassVar[bool] = False
    """Whether its rounds can be stages of a tournament whose field changes; see `field_changes`.
    Then all its rounds are alike, its options have ``rounds``, and it plans ahead unless it also
    `seeks_newcomers`.
    """
    open_to_newcomers: ClassVar[bool] = False
    """Whether bots may join a tournament that has begun; only where it is `staged`."""
    seeks_newcomers: ClassVar[bool] = False
    """Whether it plans from results and seats the entrants with the fewest matches first, so that
    newcomers need no rounds of their own. Such a format leaves out the entrants in `Field.absent`.
    """
    on_leaving: ClassVar[str] = "rounds that have not begun are planned for the others"
    """A description of the effect of withdrawing or disqualifying a bot."""
    shows_rounds: ClassVar[bool] = False
    """Whether the site lists the tables of each round because the pairings have a meaning."""
    last_table_decides: ClassVar[bool] = False
    """Whether the last round is one table whose order, not the rating, is the result."""

    @classmethod
    def references(cls, options: Any) -> tuple[str, ...]:  # noqa: ARG003 - for subclasses
        """Return the names of the bots that the table shows as references and does not rank.

        Args:
            options: A value of the class's own `options` model.
        """
        return ()

    def __init__(self, field: Field, options: OptionsT) -> None:
        self.field = field
        self.chosen = options

    @abstractmethod
    def rounds(self) -> int | None:
        """Return the number of rounds, or None if it depends on results."""

    @abstractmethod
    def matches(self, round_number: int) -> int | None:
        """Return the number of matches in a round, or None if it depends on results."""

    @abstractmethod
    def ahead(self) -> bool:
        """Return whether rounds can be planned before earlier ones are finished."""

    def length(self) -> str:
        """Describe the amount of play; used where `rounds` returns None."""
        return "as many rounds as it takes"

    def remarks(self, finished: Sequence[RoundResult]) -> list[str]:  # noqa: ARG002 - for subclasses
        """Return remarks to be shown about finished rounds, in the order of the rounds."""
        return []

    @classmethod
    def options_without(cls, options: OptionsT, left: Sequence[str]) -> OptionsT:  # noqa: ARG003 - for subclasses
        """Return the options that apply when only the named bots are left."""
        return options

    def beginners(self) -> int:
        """Return the number of entrants in the first round."""
        return len(self.field.present())

    def newcomer(self, round_number: int) -> int | None:  # noqa: ARG002 - for subclasses
        """Return the entrant whose tables make up a round; None for a round of the whole field."""
        return None

    @abstractmethod
    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of a round, lazily, or None when the tournament is over.

        The same arguments give the same tables on every machine and Python version.

        Args:
            round_number: From 0.
            finished: The results of all earlier rounds, or empty where `ahead` is true.
        """


Item = TypeVar("Item")
Draw = Callable[[], float]
"""A function that returns the next number, from 0 up to but not including 1."""


def draw(seed: int, *purpose: str | int) -> Draw:
    """Return a stream of numbers that is used for one purpose only.

    Args:
        seed: The master seed.
        purpose: The purpose of the numbers; each purpose has an unrelated stream.
    """
    text = "/".join(("schedule", str(seed), *map(str, purpose)))
    state = int.from_bytes(sha256(text.encode()).digest())
    return Random(state).random  # noqa: S311 - schedules must be reproducible from their seed


def below(limit: int, random: Draw) -> int:
    """Return a whole number from 0 to limit - 1."""
    return int(random() * limit)


def choice(items: Sequence[Item], random: Draw) -> Item:
    """Return one of the items."""
    return items[int(random() * len(items))]


def permutation(items: Sequence[Item], random: Draw) -> list[Item]:
    """Return the items in random order (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result
