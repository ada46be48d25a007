"""Random Tien Len states that one player cannot tell apart from the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.tienlen.cards import BITS, PACK, mask_from
from tourney_runner.games.tienlen.state import PASS, TienlenState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tourney_runner.games.tienlen.options import TienlenOptions
    from tourney_runner.games.tienlen.views import TienlenEvent, TienlenObservation

__all__ = ["resample"]

_HAND = 13
_TRIES = 20_000


def resample(
    options: TienlenOptions,
    view: TienlenObservation,
    events: Sequence[TienlenEvent],
    random: Random,
    start: int | None,
) -> TienlenState:
    """Return a state drawn uniformly from those that a player may be in; see `Game.resample`.

    Hidden cards are dealt at random and the events replayed, until the player sees the same. This
    respects all that the rules tell about hidden cards: nobody won at once (H24), and the opening
    play has the lowest card that was dealt (H10, T22).

    Raises:
        ValueError: No state was found that fits.
    """
    seats = range(options.players)
    laid = [0 for _ in seats]
    for event in events:
        if event.play:
            laid[event.seat] |= mask_from(event.play)
    known = laid[:]
    known[view.seat] |= mask_from(view.hand)
    unseen = PACK & ~sum(known)
    lowest = _lowest_dealt(view, events) if start is None else 1
    cards = [1 << bit for bit in range(52) if unseen >> bit & 1 and 1 << bit >= lowest]
    counts = [_HAND - known[seat].bit_count() for seat in seats]
    if sum(counts) > len(cards) or min(counts) < 0:
        raise ValueError("the events do not fit the observation")
    for _ in range(_TRIES):
        drawn = iter(random.sample(cards, sum(counts)))
        hands = [
            known[seat] | sum(next(drawn) for _ in range(count))
            for seat, count in enumerate(counts)
        ]
        state = _replayed(TienlenState.dealt(options, hands, start), events)
        if state is not None and state.observation(view.seat) == view:
            return state
    raise ValueError(f"none of {_TRIES} random states fits the observation and the events")


def _lowest_dealt(view: TienlenObservation, events: Sequence[TienlenEvent]) -> int:
    """Return the lowest card that can be in a hand, as far as the opening shows it."""
    if events and events[0].play:
        return BITS[events[0].play[0]]
    return BITS[view.must_play] if view.must_play and not events else 1


def _replayed(state: TienlenState, events: Sequence[TienlenEvent]) -> TienlenState | None:
    """Apply events to a deal; return None if they would be different."""
    for event in events:
        if event.forfeit:
            again = state.forfeit(event.seat)
        elif state.current_player != event.seat:
            return None
        else:
            again = state.apply_action(mask_from(event.play) if event.play else PASS)
        if again != event:
            return None
    return state
