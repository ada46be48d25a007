"""Reruns of spoilt deals, which are declared void and played again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.decisions.sanctions import bot_number, open_results, public_reason, publish
from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.text import counted, shown, utc_now
from tourney_runner.verify.bots_check import (
    as_then,
    available_bots,
    match_of,
    plan_of,
    play_again,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tourney_runner.play.bot import Bot
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store
    from tourney_runner.verify.bots_check import Workers

__all__ = ["rerun", "rerun_faults"]


def rerun(  # noqa: PLR0913 - each is a choice of the organiser
    folder: Path,
    number: int,
    reason: str,
    workers: Workers,
    staged: Sequence[Bot] = (),
    *,
    migrate: bool = True,
) -> tuple[Summary, str]:
    """Play a deal again; the new deal replaces the old one, which is stored as void.

    If fresh deals follow each other, the whole match is played again, since each deal starts where
    the previous one ended. Nothing is changed until the new deals are finished.

    Args:
        folder: The results folder.
        number: The number of the deal in schedule order, from 1.
        reason: The reason, which is published.
        workers: The workers that play it.
        staged: Available bots, besides those in the cache.
        migrate: Whether results of an earlier version may be converted.

    Returns:
        The new table, and a message of one or two lines.

    Raises:
        UsageError: There is no such deal, no reason, or its bots are not available.
        RunError: It cannot be played here, or the disk fails.
        Interrupted: By a signal; nothing was changed.
    """
    return _rerun(folder, lambda _: [number], reason, workers, staged, migrate=migrate)


def rerun_faults(  # noqa: PLR0913 - each is a choice of the organiser
    folder: Path,
    name: str,
    reason: str,
    workers: Workers,
    staged: Sequence[Bot] = (),
    *,
    migrate: bool = True,
) -> tuple[Summary, str]:
    """Play all deals again in which a bot failed; see `rerun`.

    Deals that a benched bot forfeited unplayed are not among them; see `sanctions.unbench`.

    Raises:
        UsageError: There is no such bot, or it failed in no deal; else as for `rerun`.
        RunError: They cannot be played here, or the disk fails.
        Interrupted: By a signal; nothing was changed.
    """

    def failed(store: Store) -> list[int]:
        entrant = bot_number(store, name)
        numbers = [
            number
            for number, deal in enumerate(store.outcomes(), start=1)
            if any(fault.entrant == entrant and not fault.unplayed for fault in deal.faults)
        ]
        if not numbers:
            raise UsageError(f"{folder}: the bot {shown(name)} has failed in no deal")
        return numbers

    return _rerun(folder, failed, reason, workers, staged, migrate=migrate)


def _rerun(  # noqa: PLR0913 - as above
    folder: Path,
    find: Callable[[Store], list[int]],
    reason: str,
    workers: Workers,
    staged: Sequence[Bot],
    *,
    migrate: bool,
) -> tuple[Summary, str]:
    reason = public_reason(reason)
    with StopSignals() as signals, open_results(folder, migrate=migrate) as store:
        settings = PlaySettings.of(store.about())
        if store.tournament().closed is not None:
            raise UsageError(
                f"{folder}: this tournament is closed and its seed is public, so a bot could know"
                " the cards of a deal that is played again"
            )
        numbers = find(store)
        # Deals of one match that follow each other are played again together.
        matches = {
            tuple(one.key for one in deals): deals
            for deals in (match_of(store, settings, store.record(number)) for number in numbers)
        }
        old = [record for deals in matches.values() for record in deals]
        cast = available_bots(store, staged)
        seated = dict.fromkeys(one for record in old for one in record.seating)
        if missing := [cast.missing[one] for one in seated if one in cast.missing]:
            raise UsageError(
                f"not in the cache of staged bots: {', '.join(missing)}; give --config with a"
                " configuration that enters the same files"
            )
        plans = [plan_of(settings, deals[0]) for deals in matches.values()]
        played = play_again(store, cast, plans, signals, workers)
        new = [record for deals in played for record in deals]
        store.exchange([one.key for one in old], new, reason, utc_now())
        line = _outcome(numbers, old, new)
        if workers.sandbox is None and (text := as_then(store, cast)[1]):
            line = f"{line}\nnote: {text}"
        return publish(folder, store), line


def _outcome(numbers: Sequence[int], old: Sequence[DealRecord], new: Sequence[DealRecord]) -> str:
    """Return a line about deals that were played again."""
    same = [one.moves for one in old] == [one.moves for one in new]
    if len(numbers) == 1:
        how = "it came out the same" if same else "it came out differently"
        return f"deal {numbers[0]} is void and was played again; {how}"
    before = sum(any(not fault.unplayed for fault in deal.faults) for deal in old)
    after = sum(any(not fault.unplayed for fault in deal.faults) for deal in new)
    return (
        f"{counted(len(old), 'deal is', 'deals are')} void and were played again; there were"
        f" faults in {before:,} of them, and there are in {after:,} now"
    )
