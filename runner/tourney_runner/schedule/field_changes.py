"""Changes to the field of a running tournament, as a sequence of stages.

A stage is a number of rounds with the same entrants. Rounds that were played are kept, so a change
only adds stages or cuts those that have not begun. A bot that joins late gets a stage of its own.
In it, the bot plays its tables from the schedule of the extended field until it has as many matches
as the others had before. There it sits in every seat and meets every opponent equally often, as in
any schedule of the format.

A format that plans from results (a ladder) seats the entrants with the fewest matches first. There
a newcomer takes part in all rounds that have not begun. If these are too few for its share at one
match a round, the missing rounds are added.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.results.tournament_record import Stage
from tourney_runner.schedule.base import Field, Format, Table
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.schedule.base import FormatOptions, RoundResult

__all__ = ["StagedFormat", "Stages"]


class Stages:
    """The stages of a tournament. It is immutable: methods that change stages return a new value.

    Args:
        name: The name of the format.
        field: All entrants that ever joined.
        options: The options of the format.
        stages: The stages in order.

    Raises:
        UsageError: The format cannot have stages because its rounds depend on results.
    """

    def __init__(
        self, name: str, field: Field, options: FormatOptions, stages: Sequence[Stage]
    ) -> None:
        if not format_class(name).staged:
            raise UsageError(_closed(name))
        self.name = name
        self.field = field
        self.options = options
        self.stages = tuple(stages)
        self._seeks = format_class(name).seeks_newcomers

    @property
    def rounds(self) -> int:
        """The number of rounds in all stages."""
        return sum(stage.rounds for stage in self.stages)

    def like(self, stages: Sequence[Stage]) -> Stages:
        """Return other stages of the same tournament."""
        return Stages(self.name, self.field, self.options, stages)

    def extended(self, active: Sequence[int], rounds: int) -> Stages:
        """Return the stages with more rounds at the end for the active entrants."""
        *before, last = self.stages
        if last.newcomer is None and last.entrants == tuple(active):
            return self.like([*before, Stage(last.entrants, last.rounds + rounds)])
        return self.like([*self.stages, Stage(tuple(active), rounds)])

    def joined(self, active: Sequence[int], newcomer: int, from_round: int) -> Stages:
        """Return the stages with the additional rounds that a newcomer needs.

        Args:
            active: The other entrants that take part now.
            newcomer: The entrant that joins, for the first time or again.
            from_round: The first round that has not been played.

        Raises:
            UsageError: Bots cannot join late in this format.
        """
        if not format_class(self.name).open_to_newcomers:
            raise UsageError(_closed(self.name))
        if self._seeks:
            return self._let_in(active, newcomer, from_round)
        field = (*active, newcomer)
        owed = self._owed(self.stages, newcomer)
        if owed <= 0 or len(field) < self.field.players:
            return self
        rounds = ceil(owed / self._share(Stage(field, 1, newcomer)))
        return self.like([*self.stages, Stage(field, rounds, newcomer)])

    def _owed(self, stages: Sequence[Stage], newcomer: int) -> Fraction:
        """Return the number of matches that an entrant has missed in some stages."""
        had = [stage for stage in stages if stage.newcomer == newcomer]
        missed = [
            stage for stage in stages if stage.newcomer is None and newcomer not in stage.entrants
        ]
        return sum((self._share(stage) * stage.rounds for stage in missed), Fraction()) - sum(
            self._share(stage) * stage.rounds for stage in had
        )

    def _split(self, from_round: int, joining: int) -> tuple[list[Stage], list[Stage]]:
        """Return the stages before a round, and those from it on with another entrant in them."""
        played, coming = list[Stage](), list[Stage]()
        first = 0
        for stage in self.stages:
            before = min(stage.rounds, max(0, from_round - first))
            first += stage.rounds
            if before:
                played.append(Stage(stage.entrants, before, stage.newcomer))
            if before < stage.rounds:
                field = tuple(sorted({*stage.entrants, joining}))
                coming.append(Stage(field, stage.rounds - before, stage.newcomer))
        return played, coming

    def _let_in(self, active: Sequence[int], newcomer: int, from_round: int) -> Stages:
        played, coming = self._split(from_round, newcomer)
        more = ceil(self._owed(played, newcomer)) - sum(stage.rounds for stage in coming)
        field = tuple(sorted((*active, newcomer)))
        if more > 0 and len(field) >= self.field.players:
            coming.append(Stage(field, more))
        return self.like([*played, *coming])

    def without(self, gone: int, from_round: int) -> Stages:
        """Return the stages without an entrant from a round on.

        Rounds whose tables can no longer be filled are dropped.
        """
        kept: list[Stage] = []
        first = 0
        for stage in self.stages:
            before = min(stage.rounds, max(0, from_round - first))
            first += stage.rounds
            if gone not in stage.entrants or before == stage.rounds:
                kept.append(stage)
                continue
            if before:
                kept.append(Stage(stage.entrants, before, stage.newcomer))
            others = tuple(entrant for entrant in stage.entrants if entrant != gone)
            rest = Stage(others, stage.rounds - before, stage.newcomer)
            if stage.newcomer != gone and self._playable(rest):
                kept.append(rest)
        return self.like(kept)

    def returned(self, active: Sequence[int], back: int, from_round: int) -> Stages:
        """Return the stages with an entrant back from a round on, once it has caught up.

        Args:
            active: The other entrants that take part now.
            back: The entrant that returns. It first plays the matches that it has missed.
            from_round: The first round that has not been played.
        """
        if self._seeks:
            return self._let_in(active, back, from_round)
        played, coming = self._split(from_round, back)
        if not format_class(self.name).open_to_newcomers:
            return self.like([*played, *coming])
        return self.like([*self.like(played).joined(active, back, from_round).stages, *coming])

    def format(self, number: int) -> Format[Any]:
        """Return the format of a single stage.

        If it plans ahead, it covers only that stage: its entrants are positions in
        `Stage.entrants`, and its rounds begin with 0. If it plans from results, it covers all
        entrants and all rounds.
        """
        stage = self.stages[number]
        first = sum(earlier.rounds for earlier in self.stages[:number])
        return self._format(stage, first)

    def matches(self, number: int) -> int:
        """Return the number of matches in each round of a stage."""
        stage = self.stages[number]
        if stage.newcomer is not None:
            return int(self._share(stage))
        return self._format(stage, 0).matches(0) or 0

    def _playable(self, stage: Stage) -> bool:
        """Return whether the entrants of a stage can play the format."""
        try:
            self._format(stage, 0)
        except UsageError:
            return False
        return True

    @property
    def _seats(self) -> int:
        return self.field.players

    def _share(self, stage: Stage) -> Fraction:
        """Return the number of matches of one entrant in a round of a stage's whole field."""
        matches = self._format(stage, 0).matches(0) or 0
        return Fraction(matches * self._seats, len(stage.entrants))

    def _format(self, stage: Stage, first: int) -> Format[Any]:
        names = tuple(self.field.names[entrant] for entrant in stage.entrants)
        options = format_class(self.name).options_without(self.options, names)
        options = options.model_copy(update={"rounds": stage.rounds})
        if self._seeks:
            options = self.options.model_copy(update={"rounds": first + stage.rounds})
            absent = frozenset(range(self.field.entrants)).difference(stage.entrants)
            return make(self.name, msgspec.structs.replace(self.field, absent=absent), options)
        seed = self.field.seed
        if first:
            seed = int.from_bytes(sha256(f"stage/{seed}/{first}".encode()).digest()[:8])
        field = Field(
            entrants=len(stage.entrants),
            players=self._seats,
            format_rules=self.field.format_rules,
            seed=seed,
            names=names,
            teams=tuple(self.field.teams[entrant] for entrant in stage.entrants)
            if self.field.teams
            else (),
        )
        return make(self.name, field, options)


def _closed(name: str) -> str:
    return (
        f"the field of a tournament with format: {name} stays as it is; begin another"
        " tournament, in a folder of its own"
    )


class StagedFormat(Format[Any]):
    """A format that plays the stages of a tournament in order."""

    def __init__(self, stages: Stages) -> None:
        super().__init__(stages.field, stages.options)
        self._stages = stages
        self._formats = [stages.format(number) for number in range(len(stages.stages))]
        self._matches = [stages.matches(number) for number in range(len(stages.stages))]
        self._ends = list(accumulate(stage.rounds for stage in stages.stages))

    def rounds(self) -> int:
        """Return the number of rounds in all stages."""
        return self._stages.rounds

    def matches(self, round_number: int) -> int:
        """Return the number of matches in a round, which depends on its stage."""
        return self._matches[self._stage(round_number)]

    def ahead(self) -> bool:
        """Return whether the formats of all stages plan ahead."""
        return all(stage.ahead() for stage in self._formats)

    def beginners(self) -> int:
        """Return the number of entrants in the first stage."""
        return len(self._stages.stages[0].entrants)

    def newcomer(self, round_number: int) -> int | None:
        """Return the newcomer of the round's stage; see `Format.newcomer`."""
        return self._stages.stages[self._stage(round_number)].newcomer

    def plan(
        self,
        round_number: int,
        finished: Sequence[RoundResult] = (),
    ) -> Iterator[Table] | None:
        """Return the tables of a round, or None after the last."""
        if round_number >= self.rounds():
            return None
        if not self.ahead():
            return self._formats[self._stage(round_number)].plan(round_number, finished)
        return self._tables(round_number)

    def _stage(self, round_number: int) -> int:
        return next(at for at, end in enumerate(self._ends) if round_number < end)

    def _tables(self, round_number: int) -> Iterator[Table]:
        number = self._stage(round_number)
        stage = self._stages.stages[number]
        within = round_number - (self._ends[number] - stage.rounds)
        match = 0
        for table in self._formats[number].plan(within, ()) or ():
            seating = tuple([stage.entrants[position] for position in table.seating])
            if stage.newcomer is None or stage.newcomer in seating:
                yield Table(round_number, match, seating)
                match += 1
