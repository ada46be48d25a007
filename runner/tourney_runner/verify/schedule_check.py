"""The schedule that a results folder should contain, derived from its record."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import UsageError
from tourney_runner.run.benching import Benching
from tourney_runner.run.checkpoint import finished_blocks
from tourney_runner.run.entrants import kept_stages
from tourney_runner.run.planner import Sizes, blocks, rounds_in, sizes, stored_round
from tourney_runner.run.tournament_setup import make_field
from tourney_runner.schedule.field_changes import StagedFormat, Stages
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import (
        Field,
        Format,
        FormatOptions,
        RoundResult,
        Seating,
        Table,
    )

__all__ = [
    "benching_wrong",
    "certain_rounds",
    "plan_wrong",
    "planned_rounds",
    "stored_format",
    "stored_stages",
]


def _described(store: Store) -> tuple[str, Field, FormatOptions]:
    """Return the format of a tournament, its field and its options."""
    record = store.tournament()
    schedule = record.schedule
    if schedule is None:
        raise UsageError(f"{store.path}: a person's table has no schedule")
    teams = {name: bot.team for name, bot in record.bots.items()}
    field = make_field(
        record.seed.master, record.rules["players"], record.names, teams, record.format_rules
    )
    chosen = dict(schedule.options)
    if schedule.rounds is not None:
        chosen["rounds"] = schedule.rounds
    return schedule.format, field, format_class(schedule.format).options.model_validate(chosen)


def stored_stages(store: Store) -> Stages:
    """Return the stages of a tournament, one if its field has never changed.

    Raises:
        UsageError: Its format cannot have stages.
    """
    name, field, options = _described(store)
    kept = kept_stages(store)
    return Stages(name, field, options, kept)


def stored_format(store: Store) -> Format[Any]:
    """Return the format of a tournament, which plans the same rounds as its runs."""
    name, field, options = _described(store)
    if store.tournament().stages:
        return StagedFormat(stored_stages(store))
    return make(name, field, options)


def planned_rounds(store: Store, tournament: Format[Any]) -> Iterator[list[Table]]:
    """Yield the tables of each round, as far as the stored results determine them."""
    finished: list[RoundResult] = []
    number = 0
    while (tables := tournament.plan(number, finished)) is not None:
        yield list(tables)
        if not tournament.ahead():
            result = stored_round(store, number)
            if not result.points:
                return
            finished.append(result)
        number += 1


def benching_wrong(store: Store, tournament: Format[Any]) -> Iterator[str]:
    """Yield the benchings that do not follow from the stored deals, and those that are missing.

    Tournaments of earlier rules are not checked, nor what other deals may have led to: those of a
    bot that were played again since, or that were forfeited until a benching was taken back.
    """
    record = store.tournament()
    if record.format_rules == 1:
        return
    benching = Benching(store, record.bench_after, record.format_rules)
    decided = [one for one in store.decisions() if one.kind == "benched"]
    certain = certain_rounds(store, tournament)
    if certain is None:
        certain = (store.last_round() or 0) + 1
    last = max((one.from_round or 0 for one in decided), default=0)
    ahead = tournament.ahead()
    undone = [one.from_round or 0 for one in decided if ahead and one.undone is not None]
    last = min([max(certain, last), *undone])
    planned = blocks(_sizes(store, tournament))
    for span in takewhile(lambda one: one.rounds.stop <= last, planned):
        end = span.rounds.stop
        if not span.ends:
            continue
        stored = {one.entrant for one in decided if one.from_round == end}
        if end > certain and not stored:
            continue
        expected = set(benching.expected(span.rounds, tournament.newcomer))
        again = {one for void in store.voids() for one in void.record.seating}
        for entrant in sorted((stored ^ expected) - again):
            is_so = "was benched" if entrant in stored else "was not benched"
            yield f"{record.names[entrant]} {is_so} after round {end}, against the stored deals"


def plan_wrong(tables: Sequence[Table], plan: Mapping[tuple[int, int], Seating]) -> Iterator[str]:
    """Yield the differences between the stored plan of a round and the tables that belong there.

    Args:
        tables: The tables that follow from the seed, the entrants and the earlier rounds.
        plan: The seating by round and match, as it was stored before the round was played. A large
            round is planned and stored in parts.
    """
    expected = {(table.round, table.match): tuple(table.seating) for table in tables}
    for key, seating in plan.items():
        where = f"round {key[0] + 1}, match {key[1] + 1}"
        if key not in expected:
            yield f"{where} is in the stored plan and not in the schedule"
        elif seating != expected[key]:
            yield (
                f"{where} was planned with entrants {_numbers(seating)}; the schedule has"
                f" {_numbers(expected[key])}"
            )


def _numbers(seating: Seating) -> str:
    return ", ".join(str(entrant + 1) for entrant in seating)


def certain_rounds(store: Store, tournament: Format[Any]) -> int | None:
    """Return the number of rounds that must be complete; None for all of them."""
    if store.tournament().complete:
        return None
    return rounds_in(finished_blocks(store), _sizes(store, tournament))


def _sizes(store: Store, tournament: Format[Any]) -> Sizes:
    return sizes(tournament, max(1, store.tournament().play.get("duplicate", 0)))
