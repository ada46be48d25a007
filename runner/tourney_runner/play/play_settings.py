"""Settings and plans for playing, and the ends of deals and matches that follow from them.

They are plain values that can be sent to workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from tourney_runner.results.records import UNPLAYED, FaultKind, FaultRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.base import Scene
    from tourney_runner.results.tournament_record import TournamentRecord

__all__ = [
    "MOST_DEALS",
    "AutoForfeit",
    "MatchPlan",
    "MatchSoFar",
    "PlaySettings",
    "is_over",
    "match_over",
    "shared_places",
]


class PlaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a configuration that decides how deals are played. Times are in milliseconds."""

    game: str
    rules: dict[str, Any]
    master_seed: str
    duplicate: int
    """Rotations of each deal; 0 for matches of new deals."""
    deals: int | None
    target: float | None
    start_ms: int
    move_ms: int
    bank_ms: int
    on_fault: Literal["forfeit", "substitute"]
    max_faults: int
    restart: Literal["fault", "match"]
    strict: bool
    ponder: bool
    reveal_names: bool
    memory: int | None
    processes: int = 32
    file_size: int = 64 << 20
    temp: int = 64 << 20
    output: int
    deal_output: int = 16 << 20
    stderr: int
    max_moves: int = 5000
    """Moves after which a deal is ended with shared places."""
    later_seeds: tuple[tuple[int, str], ...] = ()
    """Pairs (first round, seed), ascending. From that round on, the seed replaces `master_seed`."""

    def seed_of(self, round_number: int) -> str:
        """Return the seed from which a round's cards, lots and bot seeds are derived."""
        seed = self.master_seed
        for first, later in self.later_seeds:
            if round_number >= first:
                seed = later
        return seed

    @classmethod
    def of(cls, record: TournamentRecord) -> Self:
        """Return the stored settings of a tournament."""
        elsewhere = {
            "game": record.game,
            "rules": record.rules,
            "master_seed": record.seed.master,
            "later_seeds": [(one.first_round, one.master) for one in record.later_seeds],
        }
        return msgspec.convert(record.play | elsewhere, cls)

    def to_store(self) -> dict[str, Any]:
        """Return the settings that have no field of their own in a `TournamentRecord`."""
        settings: dict[str, Any] = msgspec.to_builtins(self)
        return {
            key: value
            for key, value in settings.items()
            if key not in {"game", "rules", "master_seed", "later_seeds"}
        }


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
