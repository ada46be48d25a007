"""Errors and endless loops in the code of a game, reported with the name of the game.

No bot is blamed for them. The run ends, and the deals that were stored before stay stored.
"""

from __future__ import annotations

import signal
import traceback
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import RunError, TourneyError
from tourney_runner.games.base import SeatEvents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

    import msgspec

    from tourney_runner.games.base import Game, State
    from tourney_runner.results.records import DealKey

__all__ = [
    "LOOP_SECONDS",
    "GameErrors",
    "checked_codes",
    "checked_event",
    "checked_result",
    "game_bug",
    "loop_guard",
]

_USED_BY_GAMES = (
    "tourney_runner.games.",
    "tourney_runner.gamekit.simple",
    "tourney_runner.gamekit.tricks",
    "tourney_runner.integrations.",
)

_NUMBERS = (int, float)
_MARKS = (" !", " ?", " =")
"""The marks of the runner, each at the beginning of a code."""

LOOP_SECONDS = 20.0
"""Processor time of one call to a game after which the call counts as endless."""


class _EndlessLoopError(BaseException):
    """A call to a game that does not return. Not an Exception, so that the game cannot catch it."""


def game_bug(game: Game[Any, Any], what: str) -> RunError:
    """Return the error for a bug of a game; `what` follows the game's name."""
    return RunError(f"the game {game.name}{what}. This is a bug of the game, not of a bot")


class GameErrors:
    """A block in which errors raised by the code of a game become `RunError`.

    Every deal has such blocks, and a class is five times as quick as a generator here.

    Args:
        game: The game.
        deal: The deal that the message names, if there is one.
    """

    __slots__ = ("_deal", "_game")

    def __init__(self, game: Game[Any, Any], deal: DealKey | None = None) -> None:
        self._game = game
        self._deal = deal

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """End the block.

        Raises:
            RunError: The code of the game failed.
        """
        if not isinstance(error, (Exception, _EndlessLoopError)) or isinstance(error, TourneyError):
            return
        if what := _failure(self._game, error):
            where = "" if self._deal is None else f"deal {self._deal}: "
            raise RunError(f"{where}{game_bug(self._game, what)}") from error


def _failure(game: Game[Any, Any], error: BaseException) -> str | None:
    """Return the failure of a game in words, or None if an error does not come from its code."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if _is_of(game, frame)]
    if isinstance(error, _EndlessLoopError):
        return f" {error}"
    if own:
        return f" failed in {own[0].f_code.co_name}(): {type(error).__name__}: {error}"
    return None


def _is_of(game: Game[Any, Any], frame: FrameType) -> bool:
    package = type(game).__module__.rpartition(".")[0] or type(game).__module__
    return f"{frame.f_globals.get('__name__', '')}.".startswith(f"{package}.")


def _is_of_runner(frame: FrameType) -> bool:
    """Return whether a frame belongs to this program, apart from games and what they may use."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith("tourney_runner.") and not module.startswith(_USED_BY_GAMES)


@contextmanager
def loop_guard(game: Game[Any, Any], seconds: float | None = None) -> Iterator[None]:
    """End calls to a game that do not return; for the main thread only.

    A timer looks at the stack after every `seconds` of this process's processor time, so waiting
    for bots and a busy machine do not count. A call that is still running at the next look is
    ended. The guard costs nothing in between. Code in C that never returns is not interrupted; a
    run then ends the silent worker.

    Args:
        game: The game.
        seconds: The processor time between two looks; `LOOP_SECONDS` if None.
    """
    limit = LOOP_SECONDS if seconds is None else seconds
    before: FrameType | None = None

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal before
        outermost = None
        while frame is not None and not _is_of_runner(frame):
            if _is_of(game, frame):
                outermost = frame
            frame = frame.f_back
        if outermost is not None and outermost is before:
            before = None
            name = outermost.f_code.co_name
            raise _EndlessLoopError(
                f"did not return from {name}() in {limit:g} s of processor time"
            )
        before = outermost

    handler = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)


def checked_event(game: Game[Any, Any], event: object, seats: int) -> msgspec.Struct | None:
    """Return an event of a game that is not simply of the type `Game.event`.

    Raises:
        RunError: It is neither None nor a `SeatEvents` of that type.
    """
    if event is None or isinstance(event, game.event):
        return event
    if (
        isinstance(event, SeatEvents)
        and isinstance(event.public, game.event)
        and all(isinstance(own, game.event) for own in event.own.values())
        and event.own.keys() <= set(range(seats))
    ):
        return event
    raise game_bug(
        game, f": an event is {event!r:.200}, expected a {game.event.__name__} or a SeatEvents"
    )


def checked_result(
    game: Game[Any, Any], state: State[Any]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the places and points of a finished deal.

    Raises:
        RunError: The game does not give a right one of each for every player.
    """
    places, points = tuple(state.places()), tuple(state.returns())
    for what, given in (("places", places), ("returns", points)):
        if len(given) != state.players:
            raise game_bug(
                game,
                f": {what}() gave {len(given)} numbers for {state.players} players: {list(given)}",
            )
        if wrong := [one for one in given if not isinstance(one, _NUMBERS) or not abs(one) < inf]:
            raise game_bug(game, f": {what}() gave {wrong[0]!r:.100}, which is not a finite number")
    ranked = sorted(places)
    if [1 + ranked.index(place) for place in places] != [*places]:
        raise game_bug(
            game, f": places() gave {list(places)}; players who tie share the best place"
        )
    return places, points


def checked_codes(game: Game[Any, Any], codes: list[str], extra: int) -> str:
    """Return the codes of a deal as they are stored.

    Args:
        game: The game.
        codes: All codes, those of the runner included.
        extra: The number of codes with a mark of the runner in front.

    Raises:
        RunError: A code cannot be stored.
    """
    moves = " ".join(codes)
    marked = sum(map(f" {moves}".count, _MARKS))
    if moves.split() != codes or marked != extra:
        raise game_bug(
            game,
            ": encode() gave a text that is empty, contains blanks, or begins with one of !?=",
        )
    return moves
