"""How deals were played that were stored by more than one run: none of it may be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from typing import Any

    from tourney_runner.publish.summary import Facts

__all__ = ["as_played"]

_HOW = ("protection", "clock", "version")
_EARLIER = " | earlier: "


def as_played(facts: Facts, before: dict[str, Any] | None, *, more: bool) -> Facts:
    """Facts of a tournament whose protection, clock and version are those of its deals.

    Args:
        facts: Those of this run.
        before: Those that are stored, as JSON values; None at the first run.
        more: Whether this run plays any deals; otherwise what is stored stays true.
    """
    if before is None:
        return facts
    return msgspec.structs.replace(
        facts,
        # A folder of a version without these keeps the ranking that it began with.
        rank_by=facts.rank_by if "rank_by" in before else "score",
        references=facts.references if "rank_by" in before else (),
        **{key: _joined(getattr(facts, key), before[key]) if more else before[key] for key in _HOW},
    )


def _joined(now: str, before: str) -> str:
    """Today's and all different ones of before, the latest first."""
    return _EARLIER.join(dict.fromkeys((now, *before.split(_EARLIER))))
