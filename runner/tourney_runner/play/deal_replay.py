"""Rebuild a stored deal step by step from its seed and its moves, and how its match goes on.

Replays, viewers and checks all use this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.games.base import IllegalActionError, MalformedAnswerError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.match import dealt, next_start
from tourney_runner.play.match_plan import MatchSoFar, is_over
from tourney_runner.results.records import CUT_SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.games.base import Game, State
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord

__all__ = ["Decision", "Step", "decisions", "match_so_far", "steps"]


class Step(NamedTuple):
    """One move or forfeit of a deal. `state` is the state after it; the next step changes it."""

    number: int
    seat: int
    action: Any
    """The action. None for a forfeit, and for the end of a deal after `max_moves`."""
    fallback: bool
    """Whether it was played in place of a bot that failed."""
    event: msgspec.Struct | None
    """The result of `State.apply_action` or `State.forfeit`."""
    state: State[Any]

    def log(self) -> str:
        """Return a line for spectators; see `State.log`."""
        if self.action is None and self.event is None:
            return f"the deal is ended after {self.number} moves; those still in share a place"
        return self.state.log(self.seat, self.event)


class Decision(NamedTuple):
    """One decision of a player, before the action is applied."""

    number: int
    """The number of moves before it."""
    seat: int
    view: msgspec.Struct
    """The observation that the bot got. In a simultaneous round it is from before the round."""
    action: Any
    fallback: bool
    """Whether the action was played in place of a bot that failed."""
    state: State[Any]
    """The state before the action; the next decision changes it."""


def decisions(settings: PlaySettings, record: DealRecord) -> Iterator[Decision]:
    """Yield the decisions of a stored deal, without forfeits.

    Args:
        settings: The rules and settings of the match.
        record: The stored deal.

    Raises:
        ValueError: The record does not fit the rules.
    """
    rules = find_game(settings.game)
    state = dealt(settings, record.key, record.start)
    views: dict[int, msgspec.Struct] = {}
    for number, code in enumerate(record.moves.split()):
        if code == CUT_SHORT:
            return
        if code.startswith("!"):
            views.pop(int(code[1:]), None)
            state.forfeit(int(code[1:]))
            continue
        seat = state.current_player
        if seat not in views:
            views = {one: state.observation(one) for one in state.choosing or (seat,)}
        fallback = code.startswith("?")
        action = rules.decode(code.removeprefix("?"))
        yield Decision(number, seat, views.pop(seat), action, fallback, state)
        state.apply_action(action)


def steps(settings: PlaySettings, record: DealRecord, *, check: bool = False) -> Iterator[Step]:
    """Replay a stored deal.

    Args:
        settings: The rules and settings of the match.
        record: The stored deal.
        check: Whether to check each move against the rules, as if a bot had just made it.

    Raises:
        ValueError: The record does not fit the rules.
    """
    rules = find_game(settings.game)
    state = dealt(settings, record.key, record.start)
    for number, code in enumerate(record.moves.split()):
        if code == CUT_SHORT:
            yield Step(number, state.current_player, None, fallback=False, event=None, state=state)
            return
        if code.startswith("!"):
            seat = int(code[1:])
            yield Step(number, seat, None, fallback=False, event=state.forfeit(seat), state=state)
            continue
        seat = state.current_player
        fallback = code.startswith("?")
        action = rules.decode(code[1:] if fallback else code)
        if check:
            _check(rules, state, action)
        yield Step(number, seat, action, fallback, state.apply_action(action), state)


def match_so_far(
    settings: PlaySettings, records: Sequence[DealRecord], before: MatchSoFar | None = None
) -> MatchSoFar | None:
    """Return how a match of new deals goes on, from its stored deals alone.

    Args:
        settings: The rules and settings of the match.
        records: Finished deals in order, at least one.
        before: The deals before the first of `records`, if it is not the first of the match.

    Returns:
        None if the match is over.
    """
    seats = range(len(records[0].seating))
    deals, totals, faults = 0, [0.0] * len(seats), [0] * len(seats)
    if before is not None:
        deals, totals, faults = before.deals, list(before.totals), list(before.faults)
    for record in records:
        deals += 1
        totals = [have + more for have, more in zip(totals, record.points, strict=True)]
        for fault in record.faults:
            faults[fault.seat] += not fault.unplayed
    if is_over(settings.match, deals, totals):
        return None
    state = dealt(settings, records[-1].key, records[-1].start)
    for step in steps(settings, records[-1]):
        state = step.state
    start = next_start(state, records[-1].start)
    return MatchSoFar(deals, start, tuple(totals), tuple(faults))


def _check(rules: Game[Any, Any], state: State[Any], action: Any) -> None:
    """Raise ValueError if the rules do not allow an action of the player to move."""
    try:
        state.read(msgspec.convert({"id": 0, **state.write(action)}, rules.answer))
    except (MalformedAnswerError, IllegalActionError, msgspec.ValidationError) as error:
        raise ValueError(str(error)) from error
