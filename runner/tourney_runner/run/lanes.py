"""Lanes: the shares of a block's matches, one for each worker.

A worker meets the rotations of a deal again only in a later wave of its own lane, so its bots are
renewed seldom. This holds on one machine and on a cluster.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.play.match_plan import MatchPlan

__all__ = ["Lanes"]


class Lanes:
    """The matches of a block that have not been handed out.

    Args:
        waves: The matches by rotation, in the order of play.
        count: The number of lanes, at least one.
    """

    def __init__(self, waves: Iterable[Iterable[MatchPlan]], count: int) -> None:
        self._lanes: list[deque[deque[MatchPlan]]] = [deque() for _ in range(count)]
        self.left = 0
        """The number of remaining matches."""
        for wave in waves:
            queues: list[deque[MatchPlan]] = [deque() for _ in range(count)]
            for plan in wave:
                queues[(plan.match + plan.rotation) % count].append(plan)
                self.left += 1
            for lane, queue in zip(self._lanes, queues, strict=True):
                if queue:
                    lane.append(queue)

    def take(self, lane: int, most: int) -> tuple[MatchPlan, ...]:
        """Take up to `most` matches of one wave of a lane."""
        return self._pop(self._lanes[lane], most) if lane < len(self._lanes) else ()

    def put_back(self, lane: int, matches: Iterable[MatchPlan]) -> None:
        """Return matches for which a worker had no time; it gets them first."""
        queue = deque(matches)
        if queue:
            self._lanes[lane % len(self._lanes)].appendleft(queue)
            self.left += len(queue)

    def relieve(self, most: int, worth: int) -> tuple[MatchPlan, ...]:
        """Take up to `most` matches from the fullest lane, if it has more than `worth`.

        This is for a worker with an empty lane, whose bots must be renewed for these matches.
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
