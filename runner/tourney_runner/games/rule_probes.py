"""Positions built to lead a bot to each rule, for any game that describes them.

A game supplies deals whose cards are chosen and whose other seats are steered, and the answers that
a bot with wrong rules might give. `find_probes` keeps the deals in which the rules refuse such an
answer, a few for each point of the rules. The tempting ones come first: those in which little or
nothing else may be played.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from tourney_runner.games.base import GameOptions, IllegalActionError, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from random import Random

    from tourney_runner.games.base import Answer

__all__ = ["BuiltDeal", "Probe", "RuleProbes", "find_probes"]

OptionsT = TypeVar("OptionsT", bound=GameOptions)


class BuiltDeal(NamedTuple):
    """A deal with chosen cards, up to the turn of the seat that is tested."""

    start: Callable[[], State[Any]]
    """Return the freshly dealt cards, each time the same."""
    script: tuple[Any, ...]
    """The actions of the other seats before the first turn of `seat`."""
    seat: int
    own: tuple[Any, ...] = ()
    """Actions of `seat` itself that lead to the position; the bot may decide differently."""


class Probe(NamedTuple):
    """A built deal that comes to a point of the rules."""

    point: str
    """The rule and what is forbidden by it: ``H20: double sequence of 3 pairs on 2s``."""
    deal: BuiltDeal
    wrong: dict[str, Any]
    """An answer that the rules refuse there."""
    points: frozenset[str]
    """All points of the rules that the position comes to, `point` among them."""


class RuleProbes(ABC, Generic[OptionsT]):
    """What one game knows of the mistakes that bots make."""

    @abstractmethod
    def deals(self, options: OptionsT, chance: Random) -> Iterator[BuiltDeal]:
        """Build deals without end; their cards and scripts are drawn from `chance`."""

    @abstractmethod
    def attempts(self, state: Any) -> Iterable[dict[str, Any]]:
        """Return answers, legal or not, that the player to move might take for legal."""

    @abstractmethod
    def point(self, state: Any, attempt: dict[str, Any], rule: str) -> str:
        """Name what a rule forbids, alike for all attempts that break it in the same way."""

    @abstractmethod
    def kinds(self, state: Any, action: Any) -> tuple[str, ...]:
        """Name the kinds of play that an action is, to report those that a bot never uses."""

    def refused(self, state: State[Any], answer: type[Answer]) -> dict[str, dict[str, Any]]:
        """Return the first refused attempt for each point of the rules that holds here."""
        found: dict[str, dict[str, Any]] = {}
        for attempt in self.attempts(state):
            try:
                state.read(msgspec.convert({"id": 0, **attempt}, answer))
            except IllegalActionError as error:
                found.setdefault(self.point(state, attempt, error.rule), attempt)
        return found


def find_probes(  # noqa: PLR0913 - each is a measure of the search
    probes: RuleProbes[Any],
    options: GameOptions,
    answer: type[Answer],
    chance: Random,
    *,
    searched: int,
    each: int,
) -> list[Probe]:
    """Find deals for as many points of the rules as there are.

    Args:
        probes: The game's.
        options: The rules.
        answer: The game's answer type.
        chance: What the deals are drawn from.
        searched: The number of deals that are built.
        each: The most deals that are kept for one point.

    Returns:
        The most tempting probe of every point first, then the second one of every point, and so on.
    """
    by_point: dict[str, list[tuple[int, int, Probe]]] = defaultdict(list)
    for number, deal in enumerate(islice(probes.deals(options, chance), searched)):
        state = deal.start()
        for action in (*deal.script, *deal.own):
            state.apply_action(action)
        if state.current_player != deal.seat:
            continue
        freedom = len(state.legal_actions("canonical").actions)
        refused = probes.refused(state, answer)
        points = frozenset(refused)
        for point, wrong in refused.items():
            by_point[point].append((freedom, number, Probe(point, deal, wrong, points)))
    chosen = [sorted(found, key=lambda it: it[:2])[:each] for found in by_point.values()]
    return [found[turn][2] for turn in range(each) for found in chosen if turn < len(found)]
