"""The schedule that a results folder should contain, derived from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tourney_runner.errors import UsageError
from tourney_runner.run.checkpoint import finished_blocks
from tourney_runner.run.entrants import kept_stages
from tourney_runner.run.planner import rounds_in, stored_round
from tourney_runner.run.tournament_setup import make_field
from tourney_runner.schedule.field_changes import StagedFormat, Stages
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import Field, Format, FormatOptions, RoundResult, Table

__all__ = ["certain_rounds", "planned_rounds", "stored_format", "stored_stages"]


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


def certain_rounds(store: Store, tournament: Format[Any]) -> int | None:
    """Return the number of rounds that must be complete; None for all of them."""
    if store.tournament().complete:
        return None
    size = tournament.matches(0) if tournament.ahead() else None
    return rounds_in(finished_blocks(store), size)
