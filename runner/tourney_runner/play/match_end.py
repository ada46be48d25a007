"""The ends of deals and matches that a setting decides, not the rules of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.base import Scene
    from tourney_runner.play.play_settings import PlaySettings

__all__ = ["MOST_DEALS", "is_over", "match_over", "shared_places"]

MOST_DEALS = 10_000
"""The limit of deals in a match to a target, for the case that no player ever reaches it alone."""


def is_over(settings: PlaySettings, deals: int, totals: Sequence[float]) -> bool:
    """Return whether a match of new deals is over.

    Args:
        settings: The settings of the match.
        deals: The number of finished deals.
        totals: The points of each seat in these deals.
    """
    if deals >= (settings.deals or MOST_DEALS):
        return True
    return deals > 0 and settings.target is not None and match_over(totals, settings.target)


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
