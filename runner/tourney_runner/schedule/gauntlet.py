"""A gauntlet: one or more challengers play against the field.

In a round, balanced tables of the field (see `orbits`) are carried round it, and each challenger
joins every one of them, so all challengers meet the same opponents. With ``together: true`` all
challengers sit at every table, which compares them with each other.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from pydantic import ConfigDict
from pydantic import Field as Option

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import (
    Field,
    Format,
    FormatOptions,
    OptionError,
    RoundResult,
    Seating,
    Table,
    draw,
)
from tourney_runner.schedule.orbits import OrbitRounds
from tourney_runner.schedule.round_history import fair_seating, pair_seating
from tourney_runner.schedule.team_separation import ApartRounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Gauntlet", "GauntletOptions"]


_KEY = ("challengers",)
_SHOWN = 10
"""Maximum number of names in a message."""


class GauntletOptions(FormatOptions):
    """The options of ``format: gauntlet``."""

    model_config = ConfigDict(json_schema_extra={"required": ["challengers"]})

    challengers: tuple[str, ...] = Option(
        default=(), json_schema_extra={"minItems": 1, "uniqueItems": True}
    )
    """The names of the bots that play against all others."""
    rounds: int = Option(default=10, ge=1, le=1_000_000)
    """The number of rounds; in each, every bot of the field meets every challenger in as
    many matches as the table has seats for the field."""
    together: bool = False
    """Whether the challengers sit at every table together instead of one at a time."""


class Gauntlet(Format[GauntletOptions]):
    """A gauntlet of challengers against the field."""

    name: ClassVar[str] = "gauntlet"
    shows_rounds: ClassVar[bool] = True
    summary: ClassVar[str] = "the challengers against everybody else"
    options: ClassVar[type[GauntletOptions]] = GauntletOptions
    staged: ClassVar[bool] = True

    @classmethod
    def references(cls, options: GauntletOptions) -> tuple[str, ...]:
        """Return the challengers, which have played far more than the bots of the field."""
        return options.challengers

    def __init__(self, field: Field, options: GauntletOptions) -> None:
        super().__init__(field, options)
        challengers = self._numbers()
        others = [number for number in range(field.entrants) if number not in challengers]
        groups = [challengers] if options.together else [[number] for number in challengers]
        self._sides = [_Side(field, group, others) for group in groups]
        self._start_over()

    @classmethod
    def options_without(cls, options: GauntletOptions, left: Sequence[str]) -> GauntletOptions:
        """Return the options with only those challengers that are left."""
        challengers = tuple(name for name in options.challengers if name in left)
        return options.model_copy(update={"challengers": challengers})

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of matches, which is the same in every round."""
        return sum(side.matches for side in self._sides)

    def ahead(self) -> bool:
        """Return True: the schedule does not depend on results."""
        return True

    def plan(
        self,
        round_number: int,
        finished: Sequence[RoundResult] = (),  # noqa: ARG002 - results change nothing
    ) -> Iterator[Table] | None:
        """Return the tables of a round, or None after the last.

        Seats depend on all earlier rounds.
        """
        if round_number >= self.chosen.rounds:
            return None
        if round_number < self._planned:
            self._start_over()
        seatings: list[Seating] = []
        while self._planned <= round_number:
            seatings = self._next_round()
        return (Table(round_number, match, seating) for match, seating in enumerate(seatings))

    def _start_over(self) -> None:
        self._planned = 0
        self._random = draw(self.field.seed, "gauntlet")
        self._sat: Counter[tuple[int, int]] = Counter()
        self._began: Counter[tuple[int, int]] = Counter()

    def _next_round(self) -> list[Seating]:
        seatings = []
        for side in self._sides:
            for match, company in enumerate(side.companies(self._planned)):
                turn = self._planned * side.matches + match
                seating = self._seating(side.challengers, company, turn)
                self._sat.update((entrant, seat) for seat, entrant in enumerate(seating))
                seatings.append(seating)
        self._planned += 1
        return seatings

    def _seating(self, challengers: list[int], company: list[int], turn: int) -> Seating:
        """Return the seating of a match.

        Challengers move one seat round the table with each match; the others take the remaining
        seats.
        """
        players = self.field.players
        if players == 2 and self.field.format_rules > 1:
            members = [*challengers, *company]
            pair = pair_seating(members, self._began, self._sat, self._random)
            self._began[pair] += 1
            return pair
        there = {(turn + place) % players: one for place, one in enumerate(challengers)}
        free = [seat for seat in range(players) if seat not in there]
        there |= fair_seating(company, self._sat, self._random, free)
        return tuple(there[seat] for seat in range(players))

    def _numbers(self) -> list[int]:
        """Return the challengers' entrant numbers."""
        if not self.chosen.challengers:
            raise OptionError(_KEY, "a gauntlet needs the names of its challengers")
        numbers: list[int] = []
        for index, name in enumerate(self.chosen.challengers):
            at = (*_KEY, index)
            if name not in self.field.names:
                more = ".." if len(self.field.names) > _SHOWN else ""
                known = ", ".join(self.field.names[:_SHOWN]) + more
                raise OptionError(at, f"found {name!r}, expected one of the bots: {known}")
            if self.field.names.index(name) in numbers:
                raise OptionError(at, f"{name!r} is named twice, expected every challenger once")
            numbers.append(self.field.names.index(name))
        return numbers


class _Side:
    """Challengers that sit together, and the opponents that they meet.

    Args:
        field: All entrants.
        challengers: The entrants that sit at every table.
        others: The remaining entrants; members of a challenger's team never join.

    Raises:
        UsageError: No table can be filled.
    """

    def __init__(self, field: Field, challengers: list[int], others: list[int]) -> None:
        teams = field.numbered_teams() or list(range(field.entrants))
        own = {teams[entrant] for entrant in challengers}
        self.challengers = challengers
        self._company = [entrant for entrant in others if teams[entrant] not in own]
        seats = field.players - len(challengers)
        if len(own) < len(challengers):
            raise UsageError("challengers of one team cannot sit together")
        if not 0 <= seats <= len(self._company):
            raise UsageError(
                f"{len(challengers)} challengers and {len(self._company)} others "
                f"do not make tables of {field.players}"
            )
        self._rounds: OrbitRounds | ApartRounds | None = None
        if seats:
            company_teams = [teams[entrant] for entrant in self._company]
            together = len(set(company_teams)) < len(company_teams)
            by_pair = field.format_rules > 1
            self._rounds = (
                ApartRounds(company_teams, seats, field.seed, by_pair=by_pair)
                if together
                else OrbitRounds(len(self._company), seats, field.seed, by_pair=by_pair)
            )
        self.matches = self._rounds.matches if self._rounds else field.players

    def companies(self, round_number: int) -> list[list[int]]:
        """Return the opponents that join the challengers at each table of a round."""
        if self._rounds is None:
            return [[] for _ in range(self.matches)]
        return [
            [self._company[position] for position in positions]
            for positions in self._rounds.seatings(round_number)
        ]
