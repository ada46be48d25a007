"""Conduct of single bots that no table shows: void deals and unusual thinking times."""

from __future__ import annotations

from array import array
from math import exp, lgamma
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from tourney_runner.audit.result_checks import corrected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.results.records import DealRecord

__all__ = ["Conduct", "SlowDeal", "ThinkingTime", "VoidShare"]

_MILLISECOND = 1e6
_FAR = 8.0
"""Robust standard deviations of the logarithm from which a deal is an outlier."""
_LEAST_SPREAD = 0.15
"""The least spread of logarithms of times, so that the machine's own noise is not an outlier."""
_LEAST_EXCESS = 2.0
"""Milliseconds a move. Shorter delays are the system's."""
_SHOWN = 3
"""Slow deals of a bot."""


class VoidShare(msgspec.Struct, frozen=True):
    """The matches of one bot in which a deal was void."""

    bot: str
    void: int
    matches: int
    expected: float
    """The number of them if void deals did not depend on who sits at the table."""
    p: float
    """The chance of as many, corrected for the number of bots."""


class SlowDeal(msgspec.Struct, frozen=True):
    """A deal in which a bot thought far longer than in its others."""

    deal: int
    """In schedule order, from 1."""
    milliseconds: float
    """A move, on average."""


class ThinkingTime(msgspec.Struct, frozen=True):
    """The thinking times of one bot; milliseconds a move, averaged over each deal."""

    bot: str
    deals: int
    median: float
    longest: float
    """The slowest single answer."""
    outliers: int
    slowest: tuple[SlowDeal, ...]
    """The slowest of the outliers."""


class Conduct:
    """Gathers void deals and times, 12 bytes a player and deal.

    Args:
        names: The bots' names, by number.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._matches = [0] * len(names)
        self._void = [0] * len(names)
        self._all_matches = 0
        self._all_void = 0
        self._last: tuple[int, int] | None = None
        self._counted = False
        self._deals = [array("i") for _ in names]
        self._times = [array("d") for _ in names]
        self._longest = [0] * len(names)

    def add(self, number: int, record: DealRecord, *, void: bool = False) -> None:
        """Take in a deal. The deals of a match must follow each other, as in the schedule.

        Args:
            number: The number of the deal in schedule order, from 1.
            record: The deal.
            void: Whether another deal with the same cards was declared void before it.
        """
        if self._last != record.key[:2]:
            self._last = record.key[0], record.key[1]
            self._counted = False
            self._all_matches += 1
            for entrant in record.seating:
                self._matches[entrant] += 1
        if (void or record.voids) and not self._counted:
            self._counted = True
            self._all_void += 1
            for entrant in record.seating:
                self._void[entrant] += 1
        for entrant, time in zip(record.seating, record.times, strict=False):
            if time.moves:
                self._deals[entrant].append(number)
                self._times[entrant].append(time.total / time.moves / _MILLISECOND)
                self._longest[entrant] = max(self._longest[entrant], time.longest)

    def void_shares(self) -> list[VoidShare]:
        """Return the void matches of all bots, the least likely first."""
        p_values = corrected(
            [
                _upper_tail(void, matches, self._all_void, self._all_matches)
                for void, matches in zip(self._void, self._matches, strict=True)
            ]
        )
        found = [
            VoidShare(
                bot=name,
                void=self._void[number],
                matches=self._matches[number],
                expected=round(
                    self._matches[number] * self._all_void / max(self._all_matches, 1), 2
                ),
                p=p_values[number],
            )
            for number, name in enumerate(self._names)
        ]
        return sorted(found, key=lambda one: (one.p, -one.void, one.bot))

    def thinking_times(self) -> list[ThinkingTime]:
        """Return the thinking times of all bots that were ever asked, by number."""
        return [
            self._thinking_time(number) for number in range(len(self._names)) if self._times[number]
        ]

    def _thinking_time(self, number: int) -> ThinkingTime:
        times = np.array(self._times[number])
        middle = float(np.median(times))
        logs = np.log(np.maximum(times, 1e-3))
        distance = logs - np.median(logs)
        spread = max(float(np.median(np.abs(distance))) / 0.6745, _LEAST_SPREAD)
        far = np.flatnonzero((distance > _FAR * spread) & (times > middle + _LEAST_EXCESS))
        slowest = far[np.argsort(-times[far], kind="stable")][:_SHOWN]
        return ThinkingTime(
            bot=self._names[number],
            deals=len(times),
            median=round(middle, 3),
            longest=round(self._longest[number] / _MILLISECOND, 3),
            outliers=len(far),
            slowest=tuple(
                SlowDeal(self._deals[number][index], round(float(times[index]), 3))
                for index in slowest.tolist()
            ),
        )


def _upper_tail(void: int, matches: int, all_void: int, all_matches: int) -> float:
    """Return the chance that at least `void` of a bot's matches are void.

    The void matches are drawn from all matches without repetition (Fisher's exact test).
    """
    highest = min(matches, all_void)
    if void <= max(0, matches + all_void - all_matches):
        return 1.0
    whole = _log_choices(all_matches, all_void)
    return min(
        1.0,
        sum(
            exp(
                _log_choices(matches, count)
                + _log_choices(all_matches - matches, all_void - count)
                - whole
            )
            for count in range(void, highest + 1)
        ),
    )


def _log_choices(of: int, chosen: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
