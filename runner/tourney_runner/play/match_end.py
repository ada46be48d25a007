"""The end of a match that is played to a total."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["match_over"]


def match_over(totals: Sequence[float], target: float) -> bool:
    """Return whether one player alone has the highest total, of at least `target` (H29, T42).

    The match goes on while the top is tied.
    """
    best = max(totals)
    return best >= target and sum(total == best for total in totals) == 1
