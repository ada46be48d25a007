"""Positions that test a bot on each rule, for any game that describes them.

A game supplies deals with chosen cards and steered other seats, and the answers that a bot with
wrong rules might give. `find_probes` keeps the deals in which the rules refuse such an answer, a
few for each point of the rules. The most tempting come first: those in which little or nothing
else may be played.
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


def _fallback(state: State[Any]) -> Any:
    return state.fallback_action()


class BuiltDeal(NamedTuple):
    """A deal with chosen cards, up to a turn of the tested seat."""

    start: Callable[[], State[Any]]
    """Returns the freshly dealt cards, the same each time."""
    script: tuple[Any, ...]
    """The first actions of the other seats."""
    seat: int
    own: tuple[Any, ...] = ()
    """Actions of `seat` itself that lead to the position. The bot may decide differently."""
    others: Callable[[Any], Any] = _fallback
    """Returns the action of another seat in a position after the script."""
    answers: int = 6
    """The number of answers of `seat` after which the deal has served its purpose."""

    def reach(self) -> State[Any]:
        """Return the position in which all actions of `own` have been played, or a final one."""
        state, script, own = self.start(), iter(self.script), iter(self.own)
        while not state.is_terminal():
            if state.current_player == self.seat:
                action = next(own, None)
                if action is None:
                    break
            else:
                action = next(script, None)
                action = self.others(state) if action is None else action
            state.apply_action(action)
        return state


class Probe(NamedTuple):
    """A built deal in which a point of the rules matters."""

    point: str
    """The rule and what it forbids: ``H20: double sequence of 3 pairs on 2s``."""
    deal: BuiltDeal
    wrong: dict[str, Any]
    """An answer that the rules refuse in the position."""
    points: frozenset[str]
    """All points of the rules that matter in the position, including `point`."""


class RuleProbes(ABC, Generic[OptionsT]):
    """A game's description of typical mistakes of bots."""

    @abstractmethod
    def deals(self, options: OptionsT, chance: Random) -> Iterator[BuiltDeal]:
        """Yield deals without end, with cards and scripts drawn from `chance`."""

    @abstractmethod
    def attempts(self, state: Any) -> Iterable[dict[str, Any]]:
        """Return answers, legal or not, that the player to move might believe to be legal."""

    @abstractmethod
    def point(self, state: Any, attempt: dict[str, Any], rule: str) -> str:
        """Return a name for what a rule forbids, equal for attempts that break it alike."""

    @abstractmethod
    def kinds(self, state: Any, action: Any) -> tuple[str, ...]:
        """Return the kinds of play of an action, used to report kinds that a bot never plays."""

    def refused(self, state: State[Any], answer: type[Answer]) -> dict[str, dict[str, Any]]:
        """Return the first refused attempt for each point of the rules."""
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
    """Find deals for every point of the rules that comes up.

    Args:
        probes: The game's probes.
        options: The rules.
        answer: The game's answer type.
        chance: The source of the deals.
        searched: The number of deals to build.
        each: The maximum number of deals for one point.

    Returns:
        The most tempting probe of every point, then the second of every point, and so on.
    """
    by_point: dict[str, list[tuple[int, int, Probe]]] = defaultdict(list)
    for number, deal in enumerate(islice(probes.deals(options, chance), searched)):
        state = deal.reach()
        if state.is_terminal():
            continue
        freedom = len(state.legal_actions("canonical").actions)
        refused = probes.refused(state, answer)
        points = frozenset(refused)
        for point, wrong in refused.items():
            by_point[point].append((freedom, number, Probe(point, deal, wrong, points)))
    chosen = [sorted(found, key=lambda it: it[:2])[:each] for found in by_point.values()]
    return [found[turn][2] for turn in range(each) for found in chosen if turn < len(found)]
