"""A round robin at tables of k, balanced after every match.

A *round* is one base block carried round the field (see `orbits`): n matches, each entrant in each
seat once. If all entrants sit at every table (n = k), there are no opponents to choose, only
circular orders, and for up to five players a round has all of them (see `orbits`). With
``complete: true`` a round has every possible table once (see `subsets`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from pydantic import Field as Option

from tourney_runner.schedule.base import (
    Field,
    Format,
    FormatOptions,
    RoundResult,
    Seating,
    Table,
    draw,
    permutation,
)
from tourney_runner.schedule.orbits import CircularRounds, OrbitRounds
from tourney_runner.schedule.subsets import SubsetRounds
from tourney_runner.schedule.team_separation import ApartRounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["RoundRobin", "RoundRobinOptions"]


class RoundRobinOptions(FormatOptions):
    """The options of ``format: round-robin``."""

    rounds: int = Option(default=10, ge=1, le=1_000_000)
    """The number of rounds; in each, every bot sits in every seat equally often."""
    complete: bool = False
    """Whether a round is every possible table once instead of a balanced choice of them."""


class _Rounds(Protocol):
    """A way of making rounds, in which entrants are positions 0 .. n - 1."""

    matches: int
    """Matches in a round."""

    def seatings(self, round_number: int) -> Iterator[Seating]:
        """Return the tables of a round."""


class RoundRobin(Format[RoundRobinOptions]):
    """A balanced round robin at tables of k; see `orbits` for the cost of planning a late round."""

    name: ClassVar[str] = "round-robin"
    summary: ClassVar[str] = "everybody against everybody, balanced in meetings and seats"
    options: ClassVar[type[RoundRobinOptions]] = RoundRobinOptions
    staged: ClassVar[bool] = True
    open_to_newcomers: ClassVar[bool] = True

    def __init__(self, field: Field, options: RoundRobinOptions) -> None:
        super().__init__(field, options)
        self._entrant_at = permutation(range(field.entrants), draw(field.seed, "positions"))
        self._rounds = self._choose_rounds()

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of matches, which is the same in every round."""
        return self._rounds.matches

    def ahead(self) -> bool:
        """Return True: the schedule does not depend on results."""
        return True

    def plan(
        self,
        round_number: int,
        finished: Sequence[RoundResult] = (),  # noqa: ARG002 - results change nothing
    ) -> Iterator[Table] | None:
        """Return the tables of a round, or None after the last."""
        return self._tables(round_number) if round_number < self.chosen.rounds else None

    def _tables(self, round_number: int) -> Iterator[Table]:
        for match, positions in enumerate(self._rounds.seatings(round_number)):
            seating = tuple([self._entrant_at[position] for position in positions])
            yield Table(round_number, match, seating)

    def _choose_rounds(self) -> _Rounds:
        size, seats, seed = self.field.entrants, self.field.players, self.field.seed
        numbered = self.field.numbered_teams()
        teams = [numbered[entrant] for entrant in self._entrant_at] if numbered else None
        by_pair = self.field.format_rules > 1
        if self.chosen.complete and size > seats:
            return SubsetRounds(size, seats, seed, teams, by_pair=by_pair)
        if teams:
            return ApartRounds(teams, seats, seed, by_pair=by_pair)
        if size == seats <= CircularRounds.MOST:
            return CircularRounds(size, seed)
        return OrbitRounds(size, seats, seed, by_pair=by_pair)
