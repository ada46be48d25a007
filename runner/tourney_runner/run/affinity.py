"""Which worker plays what of a block, so that bots are seldom started anew.

No process of a bot may meet the same cards twice, so a worker that is to play another rotation of
a deal that it has played ends all its bots first. Each worker has a lane, and rotation k of match
m belongs to lane m + k, modulo their number: with two workers and four rotations all bots are
renewed once a block instead of three times, and with as many workers as rotations never.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.play.play_settings import MatchPlan

__all__ = ["Lanes"]


class Lanes:
    """The matches of a block that nobody has been given yet.

    Args:
        waves: The matches by rotation, each wave before the next.
        count: How many lanes, at least one.
    """

    def __init__(self, waves: Iterable[Iterable[MatchPlan]], count: int) -> None:
        self._lanes: list[deque[deque[MatchPlan]]] = [deque() for _ in range(count)]
        self.left = 0
        """How many matches there are."""
        for wave in waves:
            queues: list[deque[MatchPlan]] = [deque() for _ in range(count)]
            for plan in wave:
                queues[(plan.match + plan.rotation) % count].append(plan)
                self.left += 1
            for lane, queue in zip(self._lanes, queues, strict=True):
                if queue:
                    lane.append(queue)

    def take(self, lane: int, most: int) -> tuple[MatchPlan, ...]:
        """At most so many matches of one wave of a lane."""
        return self._pop(self._lanes[lane], most) if lane < len(self._lanes) else ()

    def relieve(self, most: int, worth: int) -> tuple[MatchPlan, ...]:
        """The same from the lane that has most left, if that has more than `worth`.

        This is for a worker that has nothing left of its own: its bots are renewed for it.
        """
        fullest = max(self._lanes, key=_size)
        return self._pop(fullest, most) if _size(fullest) > worth else ()

    def _pop(self, waves: deque[deque[MatchPlan]], most: int) -> tuple[MatchPlan, ...]:
        if not waves:
            return ()
        taken = tuple(waves[0].popleft() for _ in range(min(most, len(waves[0]))))
        if not waves[0]:
            waves.popleft()
        self.left -= len(taken)
        return taken


def _size(waves: deque[deque[MatchPlan]]) -> int:
    return sum(map(len, waves))
