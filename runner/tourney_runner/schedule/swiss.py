"""Everybody against others who have done as well so far.

Each round sorts the field by points and seats neighbours together, as far as possible with bots
that they have not met. Where the field is no multiple of the table, the bots that have sat out
least, from the bottom of the ranking, sit out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field as Option

from tourney_runner.schedule.base import Field, Format, FormatOptions, RoundResult, Table
from tourney_runner.schedule.pairing import check_teams, neighbour_tables
from tourney_runner.schedule.round_history import Followed, History, seated
from tourney_runner.schedule.seeded_random import draw, permutation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Swiss", "SwissOptions"]


class SwissOptions(FormatOptions):
    """The options of ``format: swiss``."""

    rounds: int = Option(default=9, ge=1, le=10_000)
    """How many rounds are played."""
    games: int = Option(default=3, ge=1, le=1000)
    """Matches that each table plays in a round; more make the score of a round less a matter of
    luck."""


class Swiss(Format[SwissOptions]):
    """Pairing by score."""

    name: ClassVar[str] = "swiss"
    summary: ClassVar[str] = "every round against others with about the same score"
    options: ClassVar[type[SwissOptions]] = SwissOptions

    def __init__(self, field: Field, options: SwissOptions) -> None:
        super().__init__(field, options)
        self._tables = field.entrants // field.players
        self._teams = field.numbered_teams()
        check_teams(self._teams, self._tables)
        self._history = Followed(History)

    def rounds(self) -> int:
        """As many as configured."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """As many games as configured at each table."""
        return self._tables * self.chosen.games

    def ahead(self) -> bool:
        """Never: the next tables depend on the scores."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """The tables of a round by the scores after the rounds before; None after the last."""
        if round_number >= self.chosen.rounds:
            return None
        random = draw(self.field.seed, "swiss", round_number)
        history = self._history.after(finished[:round_number])
        ranking = history.ranking(permutation(range(self.field.entrants), random))
        playing = self._playing(ranking, history)
        tables = neighbour_tables(playing, self.field.players, history.meetings, self._teams)
        return iter(seated(round_number, tables, self.chosen.games, history, random))

    def _playing(self, ranking: list[int], history: History) -> list[int]:
        """The ranking without those who sit out."""
        out = len(ranking) % self.field.players
        from_bottom = ranking[::-1]
        from_bottom.sort(key=lambda entrant: -history.rounds[entrant])
        resting = set(from_bottom[:out])
        return [entrant for entrant in ranking if entrant not in resting]
