"""Deals of bots whose strengths are known, for tests of what is made of them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tourney_runner.results.records import DealKey, DealRecord, FaultRecord
from tourney_runner.schedule.base import Field
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def deal(
    seating: Sequence[int],
    places: Sequence[int],
    key: tuple[int, int, int] = (0, 0, 0),
    faults: Sequence[tuple[int, str]] = (),
) -> DealRecord:
    """A deal with points n - place; faults are (seat, kind)."""
    return DealRecord(
        key=DealKey(*key),
        seating=tuple(seating),
        start=None,
        moves="",
        places=tuple(places),
        points=tuple(float(len(places) - place) for place in places),
        times=(),
        faults=tuple(
            FaultRecord(seat, seating[seat], kind, 0, "")  # type: ignore[arg-type]
            for seat, kind in faults
        ),
    )


def played(
    strengths: Sequence[float],
    players: int,
    rounds: int,
    seed: int,
    *,
    rotations: int = 1,
    duplicate: bool = False,
    luck: float = 1.0,
    tie_share: float = 0.0,
) -> Iterator[DealRecord]:
    """A round robin in which a performance is strength + luck * N(0, 1).

    In a match played in rotations all its deals share half of each bot's luck variance. With
    `duplicate` that half is the luck of a seat's cards, which each bot gets in turn.
    """
    random = Random(seed)
    field = Field(entrants=len(strengths), players=players, seed=seed)
    options = format_class("round-robin").options(rounds=rounds)
    planned = make("round-robin", field, options)
    for number in range(rounds):
        for table in planned.plan(number, ()) or ():
            common = [random.gauss(0, luck) for _ in table.seating]
            for rotation in range(rotations):
                performances = [
                    strengths[entrant] + (shared + random.gauss(0, luck)) / 2**0.5
                    for entrant, shared in zip(table.seating, common, strict=True)
                ]
                if duplicate:
                    common = common[1:] + common[:1]
                if random.random() < tie_share:
                    performances[1] = performances[0]
                places = [
                    1 + sum(other > performance for other in performances)
                    for performance in performances
                ]
                yield deal(table.seating, places, (number, table.match, rotation))
