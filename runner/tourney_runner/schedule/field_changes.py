"""A field that changes while a tournament goes on: stages, one after the other.

A stage is a number of rounds with the same entrants. Rounds that were played stand, so a change
only ever adds stages or cuts those that have not begun. Who joins late gets a stage of his own:
he plays the tables at which he sits in the schedule of the field with him in it, as many as the
others have played before. There he sits in every seat and meets everybody equally often, as in
any schedule of the format.

A format that plans from results (a ladder) seeks out whoever has played little by itself. There
who joins is in all rounds that have not begun, and as many are added as he needs for his share
if he plays one match in each.
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
    """The stages of a tournament, and how they change; a value, whose methods give others.

    Args:
        name: Of the format.
        field: All that ever joined.
        options: The format's.
        stages: In their order.

    Raises:
        UsageError: The format can't have them: its rounds depend on results.
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
        """Of all stages."""
        return sum(stage.rounds for stage in self.stages)

    def like(self, stages: Sequence[Stage]) -> Stages:
        """Other stages of the same tournament."""
        return Stages(self.name, self.field, self.options, stages)

    def extended(self, active: Sequence[int], rounds: int) -> Stages:
        """With more rounds at the end, for those who are there now."""
        *before, last = self.stages
        if last.newcomer is None and last.entrants == tuple(active):
            return self.like([*before, Stage(last.entrants, last.rounds + rounds)])
        return self.like([*self.stages, Stage(tuple(active), rounds)])

    def joined(self, active: Sequence[int], newcomer: int, from_round: int) -> Stages:
        """With the rounds that someone needs who was not there.

        Args:
            active: The others who are there now.
            newcomer: Who joins, or joins again.
            from_round: The first round that is not played yet.

        Raises:
            UsageError: No bot can join in this format.
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
        """How many matches others have had in some stages, and somebody has not."""
        had = [stage for stage in stages if stage.newcomer == newcomer]
        missed = [
            stage for stage in stages if stage.newcomer is None and newcomer not in stage.entrants
        ]
        return sum((self._share(stage) * stage.rounds for stage in missed), Fraction()) - sum(
            self._share(stage) * stage.rounds for stage in had
        )

    def _split(self, from_round: int, joining: int) -> tuple[list[Stage], list[Stage]]:
        """The rounds before one, and those from it on with somebody more in them."""
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
        """With somebody missing from a round on; tables that cannot be filled are not played."""
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
        """With somebody there again from a round on, who first makes up for what he has missed.

        Args:
            active: The others who are there now.
            back: Who returns.
            from_round: The first round that is not played yet.
        """
        if self._seeks:
            return self._let_in(active, back, from_round)
        played, coming = self._split(from_round, back)
        if not format_class(self.name).open_to_newcomers:
            return self.like([*played, *coming])
        return self.like([*self.like(played).joined(active, back, from_round).stages, *coming])

    def format(self, number: int) -> Format[Any]:
        """The format of one stage alone.

        One that plans ahead knows only that stage: its entrants are positions in
        `Stage.entrants`, its rounds begin with 0. One that plans from results knows all
        entrants and all rounds.
        """
        stage = self.stages[number]
        first = sum(earlier.rounds for earlier in self.stages[:number])
        return self._format(stage, first)

    def matches(self, number: int) -> int:
        """How many matches each round of a stage has."""
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
        """How many matches an entrant has in a round of the whole field of a stage."""
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
    """Plays the stages of a tournament in their order, as one format."""

    def __init__(self, stages: Stages) -> None:
        super().__init__(stages.field, stages.options)
        self._stages = stages
        self._formats = [stages.format(number) for number in range(len(stages.stages))]
        self._matches = [stages.matches(number) for number in range(len(stages.stages))]
        self._ends = list(accumulate(stage.rounds for stage in stages.stages))

    def rounds(self) -> int:
        """Those of all stages."""
        return self._stages.rounds

    def matches(self, round_number: int) -> int:
        """As the round's stage has it."""
        return self._matches[self._stage(round_number)]

    def ahead(self) -> bool:
        """As the format of the stages."""
        return all(stage.ahead() for stage in self._formats)

    def newcomer(self, round_number: int) -> int | None:
        """See `Format.newcomer`."""
        return self._stages.stages[self._stage(round_number)].newcomer

    def plan(
        self,
        round_number: int,
        finished: Sequence[RoundResult] = (),
    ) -> Iterator[Table] | None:
        """The tables of a round, None after the last."""
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
