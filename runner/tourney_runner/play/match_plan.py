"""Plans of matches, and the ends of deals and matches.

Plans are plain values that can be sent to workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from tourney_runner.results.records import UNPLAYED, FaultKind, FaultRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.base import Scene
    from tourney_runner.play.play_settings import MatchConfig

__all__ = [
    "MOST_DEALS",
    "AutoForfeit",
    "MatchPlan",
    "MatchSoFar",
    "is_over",
    "match_over",
    "shared_places",
]


class AutoForfeit(msgspec.Struct, frozen=True, array_like=True):
    """A benched entrant that forfeits a deal without playing."""

    entrant: int
    kind: FaultKind
    """The kind of its last fault in play."""
    reason: str
    """The reason for the benching, for people."""

    @property
    def cause(self) -> str:
        """Return the cause that is stored with the forfeit. `of` is the reverse."""
        return f"{UNPLAYED}{self.reason}"

    @classmethod
    def of(cls, fault: FaultRecord) -> Self | None:
        """Return the forfeit that a stored fault stands for, or None for a fault in play."""
        if not fault.unplayed:
            return None
        return cls(fault.entrant, fault.kind, fault.cause.removeprefix(UNPLAYED))


class MatchSoFar(msgspec.Struct, frozen=True, array_like=True):
    """The finished deals of a match of new deals that is not over. Tuples are by seat."""

    deals: int
    start: int | None
    """The start value of the next deal."""
    totals: tuple[float, ...]
    """The points so far."""
    faults: tuple[int, ...]
    """The faults in play so far."""


class MatchPlan(msgspec.Struct, frozen=True, array_like=True):
    """A rotation of duplicate deals, or a match of new deals or the rest of one."""

    round: int
    match: int
    seating: tuple[int, ...]
    """Entrant numbers by seat in rotation 0."""
    rotation: int = 0
    retired: tuple[AutoForfeit, ...] = ()
    so_far: MatchSoFar | None = None
    """The deals that are finished already; None to play the whole match."""

    def seats(self) -> tuple[int, ...]:
        """Return the entrant numbers by seat in this rotation."""
        return self.seating[self.rotation :] + self.seating[: self.rotation]


MOST_DEALS = 10_000
"""The limit of deals in a match to a target, for the case that no player ever reaches it alone."""


def is_over(match: MatchConfig, deals: int, totals: Sequence[float]) -> bool:
    """Return whether a match of new deals is over.

    Args:
        match: The settings of the match.
        deals: The number of finished deals.
        totals: The points of each seat in these deals.
    """
    if deals >= (match.deals or MOST_DEALS):
        return True
    return deals > 0 and match.target is not None and match_over(totals, match.target)


def match_over(totals: Sequence[float], target: float) -> bool:
    """Return whether one player alone has the highest total, of at least `target` (H29, T42).

    The match goes on while the top is tied.
    """
    best = max(totals)
    return best >= target and sum(total == best for total in totals) == 1


def shared_places(scene: Scene, forfeited: Sequence[int]) -> tuple[int, ...]:
    """Return the places of a deal that is ended after `max_moves`.

    Seats that are out keep their places, seats that forfeited are last, the earliest lowest, and
    all others share the best place that is left.

    Args:
        scene: The position at that time.
        forfeited: The seats that forfeited, in order.
    """
    players = len(scene.seats)
    places = {seat: players - number for number, seat in enumerate(forfeited)}
    for view in scene.seats:
        if view.state == "out" and view.place is not None and view.seat not in places:
            places[view.seat] = view.place
    best = 1 + sum(seat not in forfeited for seat in places)
    return tuple(places.get(seat, best) for seat in range(players))
