"""Decisions about entrants: out of the tournament, and back in.

Deals are never touched. A decision says which of them count (see `results.rulings`) and
who plays the rounds to come; all tables are computed anew.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.publish.result_files import write_files
from tourney_runner.publish.summary import summarise
from tourney_runner.results.records import DealKey, Decision
from tourney_runner.results.rulings import in_force
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.run.benching import end_benching
from tourney_runner.run.field import next_round, present
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.schedule.registry import format_class
from tourney_runner.text import counted, listed, nearest, shown, utc_now
from tourney_runner.verify.schedule_check import stored_format, stored_stages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from tourney_runner.publish.summary import Summary
    from tourney_runner.schedule.field_changes import Stages

__all__ = ["Kind", "open_results", "publish", "rule", "told", "unbench", "undo"]

Kind = Literal["disqualified", "withdrawn", "benched"]


@contextmanager
def open_results(folder: Path) -> Iterator[Store]:
    """A folder's results, to be changed by us alone.

    Raises:
        UsageError: There are none of a tournament, or a run is writing there.
    """
    if not (folder / FILE_NAME).is_file():
        raise UsageError(f"{folder}: there are no results here; `tourney run CONFIG` makes them")
    with ResultsFolder(folder) as held:
        store = Store(held.database, create=True)
        try:
            store.tournament()  # refuses what is no tournament
            yield store
        finally:
            store.close()


def rule(
    folder: Path, kind: Kind, name: str, reason: str, since: date | None = None
) -> tuple[Summary, str]:
    """Disqualify or withdraw a bot; where that was done already, only the tables are made anew.

    Args:
        folder: The results.
        kind: What is decided.
        name: The bot.
        reason: For everybody to read.
        since: The day from which it holds, if not at once; for withdrawals.

    Returns:
        The new table, and what was done, in a line.

    Raises:
        UsageError: There is no such bot, no reason, or the tournament's format cannot go on
            without it.
        RunError: The disk fails.
    """
    reason = told(reason)
    with open_results(folder) as store:
        entrant = _number(store, name)
        done = next((one for one in in_force(store) if _is(one, kind, entrant)), None)
        if done is None:
            day = None if since is None else since.isoformat()
            _decide(store, Decision(0, utc_now(), kind, entrant, reason, day))
            line = f"{name} is {kind} {'now' if day is None else f'from {day} on'}"
        else:
            line = f"{name} was {kind} already: {done.reason}"
        return publish(folder, store), line


def undo(folder: Path, kind: Kind, name: str) -> tuple[Summary, str]:
    """Take a decision back; where that was done already, only the tables are made anew.

    Raises:
        UsageError: There is no such bot, or nothing was ever decided about it.
        RunError: The disk fails.
    """
    with open_results(folder) as store:
        entrant = _number(store, name)
        found = [one for one in store.decisions() if _is(one, kind, entrant)]
        if not found:
            raise UsageError(f"{folder}: the bot {shown(name)} was never {kind}")
        decision = found[-1]
        if decision.undone is None:
            _take_back(store, decision)
            line = f"{name} is {kind} no more"
        else:
            line = f"that {name} was {kind} has been taken back already"
        return publish(folder, store), line


def unbench(folder: Path, name: str) -> tuple[Summary, str]:
    """Let a benched bot play again.

    Where rounds are planned ahead, the deals that it forfeited unplayed are removed, and the next
    run plays them. Where they are planned from results, rounds that have begun stand, and it
    plays again from the next round on.

    Returns:
        The new table, and what was done, in a line.

    Raises:
        UsageError: There is no such bot, or it was never benched.
        RunError: The disk fails.
    """
    with open_results(folder) as store:
        entrant = _number(store, name)
        found = [one for one in store.decisions() if _is(one, "benched", entrant)]
        if not found:
            raise UsageError(f"{folder}: the bot {shown(name)} was never benched")
        decision = found[-1]
        if decision.undone is not None:
            return publish(folder, store), f"{name} is not benched any more"
        line = _unbench(store, name, msgspec.structs.replace(decision, undone=utc_now()))
        return publish(folder, store), line


def _unbench(store: Store, name: str, undone: Decision) -> str:
    """Take back that a bot was benched; return what happens now."""
    first = next_round(store)
    if not stored_format(store).ahead():
        end_benching(store, undone, first)
        return f"{name} plays again from round {first + 1} on; rounds that have begun stand"
    start = undone.from_round or 0
    keys = _forfeited(store, undone.entrant, range(start, first))
    if keys:
        reason = f"{name}, which was benched, plays again"
        store.exchange(keys, (), reason, undone.undone or utc_now())
        store.change(complete=False)
    end_benching(store, undone, start)
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


def told(reason: str) -> str:
    """A reason as it is kept: one line without anything that could move a cursor.

    Raises:
        UsageError: It is empty.
    """
    line = " ".join("".join(one if one.isprintable() else " " for one in reason).split())
    if not line:
        raise UsageError("give --reason: everybody will read it")
    return line


def _is(decision: Decision, kind: Kind, entrant: int) -> bool:
    return (decision.kind, decision.entrant) == (kind, entrant)


def _number(store: Store, name: str) -> int:
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
    stages = _changeable(store, decision)
    if stages is None or (decision.since is not None and decision.since > decision.at):
        store.decide(decision)
        return
    first = next_round(store)
    before = store.tournament().stages_before | {number: stages.stages}
    after = stages.without(decision.entrant, first).stages
    store.decide(
        msgspec.structs.replace(decision, from_round=first),
        stages=after,
        stages_before=before,
    )


def _changeable(store: Store, decision: Decision) -> Stages | None:
    """The stages, where the rounds to come can do without a bot; None where none are to come."""
    record = store.tournament()
    name = record.schedule.format if record.schedule else ""
    if format_class(name).open_to_newcomers:
        return stored_stages(store)
    if decision.kind == "disqualified" and record.complete:
        return None
    raise UsageError(
        f"{store.path.parent}: with format: {name} nobody can leave before the last round: who"
        " meets whom depends on all of them. Finish the run, then disqualify."
    )


def _take_back(store: Store, decision: Decision) -> None:
    undone = msgspec.structs.replace(decision, undone=utc_now())
    if decision.from_round is None:
        store.decide(undone)
        return
    stages = stored_stages(store)
    first = next_round(store)
    record = store.tournament()
    after = stages.like(record.stages_before.get(decision.number, ()))
    unchanged = after.without(decision.entrant, decision.from_round).stages == stages.stages
    if first > decision.from_round or not unchanged:
        others = present(store, range(stages.field.entrants))
        after = stages.returned(others, decision.entrant, first)
    complete = record.complete and after.rounds <= first
    store.decide(undone, stages=after.stages, complete=complete)


def publish(folder: Path, store: Store) -> Summary:
    """Write a folder's tables and its site anew.

    Raises:
        RunError: The disk fails.
    """
    summary = summarise(store)
    write_files(folder, store, summary)
    return summary
