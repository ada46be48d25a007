"""Which deals count, by what the organiser has decided about entrants.

A deal at which a disqualified entrant sat counts for nobody: where it finished, and what it did
to the others' cards, are not what the table is about. Every other entrant has met it about
equally often, so nobody loses more deals than others do. Decisions are kept apart from the
deals, so taking one back brings the same table back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.results.records import DealOutcome, DealRecord, Decision
    from tourney_runner.results.store import Store

__all__ = [
    "HEAVIEST_FIRST",
    "counting_deals",
    "decision_about",
    "disqualified",
    "in_force",
    "outcomes",
]

HEAVIEST_FIRST = ("disqualified", "withdrawn", "benched")
"""The kinds of decisions; where two about an entrant are in force, the heavier is told."""


def in_force(store: Store) -> list[Decision]:
    """All decisions that were not taken back."""
    return [decision for decision in store.decisions() if decision.undone is None]


def decision_about(store: Store, entrant: int) -> Decision | None:
    """The decision in force about an entrant, the heavier one if there are two."""
    found = [decision for decision in in_force(store) if decision.entrant == entrant]
    return min(found, key=lambda decision: HEAVIEST_FIRST.index(decision.kind), default=None)


def disqualified(store: Store) -> frozenset[int]:
    """The entrants whose deals do not count."""
    return frozenset(
        decision.entrant for decision in in_force(store) if decision.kind == "disqualified"
    )


def counting_deals(store: Store) -> Iterator[tuple[int, DealRecord]]:
    """The deals that count, in schedule order, with their numbers among all deals, from 1."""
    out = disqualified(store)
    for number, record in enumerate(store.records(), start=1):
        if out.isdisjoint(record.seating):
            yield number, record


def outcomes(store: Store) -> Iterator[DealOutcome]:
    """The deals that count, in schedule order, as far as tables need them."""
    out = disqualified(store)
    return (outcome for outcome in store.outcomes() if out.isdisjoint(outcome.seating))
