"""Rulings about entrants, and the deals that count because of them.

A deal in which a disqualified entrant took part does not count: its result, and its effect on the
others, must not influence the table. All other entrants have met it about equally often, so they
lose about the same number of deals. Rulings are stored separately from the deals, so taking one
back restores the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.results.queries import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.results.records import DealOutcome, DealRecord, Decision
    from tourney_runner.results.store import Store

__all__ = [
    "HEAVIEST_FIRST",
    "counting_deals",
    "decision_about",
    "disqualified",
    "gone",
    "held",
    "in_force",
    "outcomes",
    "take_back",
]

HEAVIEST_FIRST = ("disqualified", "withdrawn", "benched")
"""The kinds of rulings. If two about an entrant are in force, the first in this order is shown."""


def in_force(store: Store) -> list[Decision]:
    """Return all decisions that were not taken back."""
    return [decision for decision in store.decisions() if decision.undone is None]


def decision_about(store: Store, entrant: int) -> Decision | None:
    """Return the decision in force about an entrant, the more severe one if there are two."""
    found = [decision for decision in in_force(store) if decision.entrant == entrant]
    return min(found, key=lambda decision: HEAVIEST_FIRST.index(decision.kind), default=None)


def held(store: Store) -> list[tuple[Decision, range]]:
    """Return each decision that has taken effect, and the rounds for which it holds or held."""
    record = store.about_if_begun()
    until = {} if record is None else record.held_until
    found = []
    for decision in store.decisions():
        first = decision.from_round
        if first is not None:
            end = first if decision.undone is not None else ALL.stop
            found.append((decision, range(first, until.get(decision.number, end))))
    return found


def gone(store: Store, number: int) -> frozenset[int]:
    """Return the entrants that take no part in a round, by its number, excluding benched ones."""
    return frozenset(
        decision.entrant
        for decision, rounds in held(store)
        if decision.kind != "benched" and number in rounds
    )


def take_back(store: Store, decision: Decision, first: int, at: str) -> None:
    """Take back a decision that has held for the rounds before `first`."""
    undone = msgspec.structs.replace(decision, undone=at)
    store.decide(undone, held_until=store.about().held_until | {decision.number: first})


def disqualified(store: Store) -> frozenset[int]:
    """Return the entrants whose deals do not count."""
    return frozenset(
        decision.entrant for decision in in_force(store) if decision.kind == "disqualified"
    )


def counting_deals(store: Store) -> Iterator[tuple[int, DealRecord]]:
    """Yield the deals that count in schedule order, with their numbers among all deals, from 1."""
    out = disqualified(store)
    for number, record in enumerate(store.records(), start=1):
        if out.isdisjoint(record.seating):
            yield number, record


def outcomes(store: Store) -> Iterator[DealOutcome]:
    """Yield the deals that count in schedule order, with only the fields that tables need."""
    out = disqualified(store)
    return (outcome for outcome in store.outcomes() if out.isdisjoint(outcome.seating))
