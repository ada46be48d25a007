"""Rulings about entrants: disqualify, withdraw, and undo both.

Deals are never edited. A ruling determines which of them count (see `results.rulings`) and which
entrants play the coming rounds; all tables are computed again.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.publish.events import log_events
from tourney_runner.publish.result_files import write_files
from tourney_runner.results.records import DealKey, Decision
from tourney_runner.results.rulings import in_force, take_back
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.run.entrants import next_round, present
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.schedule.registry import format_class
from tourney_runner.text import counted, listed, nearest, shown, utc_now
from tourney_runner.verify.rules_check import stored_format, stored_stages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from tourney_runner.publish.summary import Summary
    from tourney_runner.schedule.base import Format

__all__ = [
    "Kind",
    "bot_number",
    "open_results",
    "public_reason",
    "publish",
    "rule",
    "unbench",
    "undo",
]

Kind = Literal["disqualified", "withdrawn", "benched"]


@contextmanager
def open_results(folder: Path, *, migrate: bool = True) -> Iterator[Store]:
    """Open the results of a folder for writing, while it is locked.

    Args:
        folder: The results folder.
        migrate: Whether results of an earlier version may be converted.

    Raises:
        UsageError: There are no results of a tournament, they may not be converted, or a run is
            writing there.
    """
    if not (folder / FILE_NAME).is_file():
        raise UsageError(f"{folder}: there are no results here; `tourney run CONFIG` makes them")
    with ResultsFolder(folder) as held:
        store = Store(held.database, create=True, migrate=migrate)
        try:
            store.tournament()  # refuses a person's table
            yield store
        finally:
            store.close()


def rule(  # noqa: PLR0913 - the parts of a decision
    folder: Path,
    kind: Kind,
    name: str,
    reason: str,
    since: date | None = None,
    *,
    migrate: bool = True,
) -> tuple[Summary, str]:
    """Disqualify or withdraw a bot; if that was done already, only publish the tables again.

    Args:
        folder: The results folder.
        kind: The kind of the ruling.
        name: The bot.
        reason: The reason, which is published.
        since: The day from which it applies, if not at once; for withdrawals.
        migrate: Whether results of an earlier version may be converted.

    Returns:
        The new table, and a message of one line.

    Raises:
        UsageError: There is no such bot, or no reason.
        RunError: The disk fails.
    """
    reason = public_reason(reason)
    with open_results(folder, migrate=migrate) as store:
        entrant = bot_number(store, name)
        done = next((one for one in in_force(store) if _is(one, kind, entrant)), None)
        if done is None:
            day = None if since is None else since.isoformat()
            _decide(store, Decision(0, utc_now(), kind, entrant, reason, day))
            now = f"now; {_what_follows(store)}"
            line = f"{name} is {kind} {now if day is None else f'from {day} on'}"
        else:
            line = f"{name} was {kind} already: {done.reason}"
        return publish(folder, store), line


def undo(folder: Path, kind: Kind, name: str, *, migrate: bool = True) -> tuple[Summary, str]:
    """Take a ruling back; if that was done already, only publish the tables again.

    Args:
        folder: The results folder.
        kind: The kind of the ruling.
        name: The bot.
        migrate: Whether results of an earlier version may be converted.

    Raises:
        UsageError: There is no such bot, or there was never such a ruling about it.
        RunError: The disk fails.
    """
    with open_results(folder, migrate=migrate) as store:
        entrant = bot_number(store, name)
        found = [one for one in store.decisions() if _is(one, kind, entrant)]
        if not found:
            raise UsageError(f"{folder}: the bot {shown(name)} was never {kind}")
        decision = found[-1]
        if decision.undone is None:
            _take_back(store, decision)
            line = f"{name} is no longer {kind}"
        else:
            line = f"that {name} was {kind} has been taken back already"
        return publish(folder, store), line


def unbench(folder: Path, name: str, *, migrate: bool = True) -> tuple[Summary, str]:
    """Let a benched bot play again.

    If rounds are planned ahead, the deals that it forfeited unplayed are removed, and the next run
    plays them. If they are planned from results, rounds that have begun stand, and it plays again
    from the next round on.

    Args:
        folder: The results folder.
        name: The bot.
        migrate: Whether results of an earlier version may be converted.

    Returns:
        The new table, and a message of one line.

    Raises:
        UsageError: There is no such bot, or it was never benched.
        RunError: The disk fails.
    """
    with open_results(folder, migrate=migrate) as store:
        entrant = bot_number(store, name)
        found = [one for one in store.decisions() if _is(one, "benched", entrant)]
        if not found:
            raise UsageError(f"{folder}: the bot {shown(name)} was never benched")
        decision = found[-1]
        if decision.undone is not None:
            return publish(folder, store), f"{name} is not benched any more"
        line = _unbench(store, name, decision)
        return publish(folder, store), line


def _unbench(store: Store, name: str, decision: Decision) -> str:
    """Take back the benching of a bot; return a message about the consequences."""
    first = next_round(store)
    if not stored_format(store).ahead():
        take_back(store, decision, first, utc_now())
        return f"{name} plays again from round {first + 1} on; rounds that have begun stand"
    start = decision.from_round or 0
    keys = _forfeited(store, decision.entrant, range(start, first))
    if keys:
        reason = f"{name}, which was benched, plays again"
        store.exchange(keys, (), reason, utc_now())
        store.change(complete=False)
    take_back(store, decision, start, utc_now())
    deals = counted(len(keys), "deal")
    return f"{name} plays again: {deals} that it forfeited will be played by the next `tourney run`"


def _forfeited(store: Store, entrant: int, rounds: range) -> list[DealKey]:
    """Return the deals of all matches that an entrant forfeited unplayed."""
    matches = {
        (deal.key.round, deal.key.match)
        for deal in store.outcomes(rounds)
        if any(fault.unplayed and fault.entrant == entrant for fault in deal.faults)
    }
    return [deal.key for deal in store.outcomes(rounds) if deal.key[:2] in matches]


def public_reason(reason: str, option: str = "--reason") -> str:
    """Return a reason as it is stored: one line without control characters.

    Raises:
        UsageError: It is empty.
    """
    line = " ".join("".join(one if one.isprintable() else " " for one in reason).split())
    if not line:
        raise UsageError(f"give {option}: everybody will read it")
    return line


def _is(decision: Decision, kind: Kind, entrant: int) -> bool:
    return (decision.kind, decision.entrant) == (kind, entrant)


def bot_number(store: Store, name: str) -> int:
    """Return the number of a bot.

    Raises:
        UsageError: There is no bot of that name.
    """
    bots = store.tournament().bots
    if name not in bots:
        raise UsageError(
            f"{store.path.parent}: there is no bot {shown(name)} here; the bots are"
            f" {listed(sorted(bots), 'and')}{nearest(name, sorted(bots))}"
        )
    return bots[name].number


def _decide(store: Store, decision: Decision) -> None:
    number = 1 + max((one.number for one in store.decisions()), default=0)
    decision = msgspec.structs.replace(decision, number=number)
    if decision.since is not None and decision.since > decision.at:
        store.decide(decision)
        return
    first = next_round(store)
    if not _format(store).staged:
        store.decide(msgspec.structs.replace(decision, from_round=first))
        return
    stages = stored_stages(store)
    before = store.tournament().stages_before | {number: stages.stages}
    after = stages.without(decision.entrant, first).stages
    store.decide(
        msgspec.structs.replace(decision, from_round=first),
        stages=after,
        stages_before=before,
    )


def _format(store: Store) -> type[Format[Any]]:
    schedule = store.tournament().schedule
    return format_class(schedule.format if schedule else "")


def _what_follows(store: Store) -> str:
    """Describe the consequences of a ruling about a bot."""
    if store.tournament().complete:
        return "all rounds are played and stand"
    return _format(store).on_leaving


def _take_back(store: Store, decision: Decision) -> None:
    undone = msgspec.structs.replace(decision, undone=utc_now())
    if decision.from_round is None:
        store.decide(undone)
        return
    first = next_round(store)
    if not _format(store).staged:
        take_back(store, decision, first, utc_now())
        return
    stages = stored_stages(store)
    record = store.tournament()
    after = stages.like(record.stages_before.get(decision.number, ()))
    unchanged = after.without(decision.entrant, decision.from_round).stages == stages.stages
    if first > decision.from_round or not unchanged:
        others = present(store, range(stages.field.entrants))
        after = stages.returned(others, decision.entrant, first)
    complete = record.complete and after.rounds <= first
    store.decide(undone, stages=after.stages, complete=complete)


def publish(folder: Path, store: Store) -> Summary:
    """Write a folder's tables and its site again.

    Raises:
        RunError: The disk fails.
    """
    log_events(store)
    return write_files(folder, store)
