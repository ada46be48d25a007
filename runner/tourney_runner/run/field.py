"""Who takes part from now on: decisions that take effect, late entrants, more rounds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.results.rulings import in_force
from tourney_runner.results.tournament_record import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.results.store import Store
    from tourney_runner.schedule.field_changes import Stages

__all__ = ["absent", "kept_stages", "next_round", "present", "take_effect"]


def next_round(store: Store) -> int:
    """The first round of which nothing is stored: changes of the field hold from there on."""
    last = store.last_round()
    return 0 if last is None else last + 1


def kept_stages(store: Store) -> list[Stage]:
    """Return the stages of a tournament, one if its field has never changed."""
    record = store.tournament()
    return list(record.stages) or [Stage(tuple(range(len(record.entrants))), record.rounds or 0)]


def absent(store: Store) -> frozenset[int]:
    """Return the entrants that are in no further round; benched ones are, and forfeit there."""
    return frozenset(
        decision.entrant
        for decision in in_force(store)
        if decision.from_round is not None and decision.kind != "benched"
    )


def present(store: Store, entrants: Iterable[int]) -> list[int]:
    """Those of the entrants that play on."""
    gone = absent(store)
    return [entrant for entrant in entrants if entrant not in gone]


def take_effect(store: Store, stages: Stages | None) -> Stages | None:
    """Let withdrawals hold whose day has come; from then on they are certain.

    Args:
        store: The results.
        stages: The stages of the tournament; None for a format without any.

    Returns:
        The stages as they are now; they are kept.
    """
    today = datetime.now(UTC).date().isoformat()
    for decision in in_force(store):
        if decision.from_round is None and decision.since is not None and decision.since <= today:
            first = next_round(store)
            now = msgspec.structs.replace(decision, from_round=first)
            if stages is None:
                store.decide(now)
            else:
                stages = stages.without(decision.entrant, first)
                store.decide(now, stages=stages.stages)
    return stages
