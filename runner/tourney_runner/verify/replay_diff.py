"""The first difference between a stored deal and the same deal played again, and its cause."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.play.deal_replay import steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord

__all__ = ["Divergence", "by_chance", "divergence", "host_faults"]

_HOST_FAULTS = frozenset({"start", "crash", "timeout", "memory"})
"""Faults that depend on how busy and how large the machine is."""


class Divergence(NamedTuple):
    """The first difference of two records of a deal."""

    move: int
    """From 1; after the last one if only the ends differ."""
    entrant: int | None
    """The entrant that made the move; None at the end."""
    before: str
    after: str


def divergence(
    settings: PlaySettings, before: Sequence[DealRecord], after: Sequence[DealRecord]
) -> tuple[int, Divergence] | None:
    """Return the first difference of two records of a match: the index of the deal and the move."""
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        found = _parting(settings, one, other)
        if found is not None:
            return number, found
    if len(before) != len(after):
        last = min(len(before), len(after)) - 1
        return last, Divergence(0, None, f"{len(before)} deals", f"{len(after)} deals")
    return None


def _parting(settings: PlaySettings, one: DealRecord, other: DealRecord) -> Divergence | None:
    codes, other_codes = one.moves.split(), other.moves.split()
    if codes == other_codes:
        if (one.places, one.points) == (other.places, other.points):
            return None
        return Divergence(len(codes) + 1, None, f"places {one.places}", f"places {other.places}")
    at = next(
        (at for at, pair in enumerate(zip(codes, other_codes, strict=False)) if pair[0] != pair[1]),
        min(len(codes), len(other_codes)),
    )
    longer = one if len(codes) > at else other
    step = next((step for step in steps(settings, longer) if step.number == at), None)
    return Divergence(
        at + 1,
        None if step is None else longer.seating[step.seat],
        _told(settings, one, at),
        _told(settings, other, at),
    )


def _told(settings: PlaySettings, record: DealRecord, at: int) -> str:
    """Describe a move."""
    step = next((step for step in steps(settings, record) if step.number == at), None)
    return "the end" if step is None else f"'{step.log()}'"


def by_chance(settings: PlaySettings, plays: Sequence[Sequence[DealRecord]]) -> set[int]:
    """Return the entrants that moved differently in the same position with newly started bots."""
    found = set()
    for one, other in combinations(plays, 2):
        part = divergence(settings, one, other)
        if part is not None and part[1].entrant is not None:
            found.add(part[1].entrant)
    return found


def host_faults(records: Sequence[DealRecord]) -> bool:
    """Return whether a fault occurred that may not occur on another machine."""
    return any(fault.kind in _HOST_FAULTS for record in records for fault in record.faults)
