"""A stored deal, rebuilt from its seed and its moves, one step after the other.

Replays, viewers and checks all ask this; nothing else plays stored moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.games.base import IllegalActionError, MalformedAnswerError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.match import dealt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.games.base import Game, State
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord

__all__ = ["Step", "steps"]


class Step(NamedTuple):
    """One move or forfeit of a deal. The state is the one after it, and changes with the next."""

    number: int
    seat: int
    action: Any
    """The game's action; None for a forfeit."""
    fallback: bool
    """Whether it was played for a bot that had failed."""
    event: msgspec.Struct
    state: State[Any]


def steps(settings: PlaySettings, record: DealRecord, *, check: bool = False) -> Iterator[Step]:
    """Play a stored deal again.

    Args:
        settings: The rules.
        record: The deal.
        check: Whether each move is put before the rules again, as when a bot made it.

    Raises:
        ValueError: The record is not a deal of these rules.
    """
    rules = find_game(settings.game)
    state = dealt(settings, record.key, record.start)
    for number, code in enumerate(record.moves.split()):
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


def _check(rules: Game[Any, Any], state: State[Any], action: Any) -> None:
    """Make sure that the rules allow an action of the player to move."""
    try:
        state.read(msgspec.convert({"id": 0, **state.write(action)}, rules.answer))
    except (MalformedAnswerError, IllegalActionError, msgspec.ValidationError) as error:
        raise ValueError(str(error)) from error
