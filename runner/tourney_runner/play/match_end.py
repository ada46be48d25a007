"""When a match to a total is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["match_over"]


def match_over(totals: Sequence[float], target: float) -> bool:
    """Whether exactly one player has the highest total and it is at least `target` (H29, T42).

    A tie at the top plays on.
    """
    best = max(totals)
    return best >= target and sum(total == best for total in totals) == 1
