"""Reruns of spoilt deals, which are declared void and played again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.decisions.sanctions import open_results, publish, told
from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.text import utc_now
from tourney_runner.verify.bot_rerunner import (
    as_then,
    available_bots,
    match_of,
    plan_of,
    play_again,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.bots import Bot
    from tourney_runner.publish.summary import Summary
    from tourney_runner.verify.bot_rerunner import Workers

__all__ = ["rerun"]


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
    reason = told(reason)
    with StopSignals() as signals, open_results(folder, migrate=migrate) as store:
        settings = PlaySettings.of(store.about())
        if store.tournament().closed is not None:
            raise UsageError(
                f"{folder}: this tournament is closed and its seed is public, so a bot could know"
                " the cards of a deal that is played again"
            )
        record = store.record(number)
        old = match_of(store, settings, record)
        cast = available_bots(store, staged)
        if missing := [cast.missing[one] for one in record.seating if one in cast.missing]:
            raise UsageError(
                f"not in the cache of staged bots: {', '.join(missing)}; give --config with a"
                " configuration that enters the same files"
            )
        (new,) = play_again(store, cast, [plan_of(settings, record)], signals, workers)
        store.exchange([one.key for one in old], new, reason, utc_now())
        same = [one.moves for one in old] == [one.moves for one in new]
        how = "it came out the same" if same else "it came out otherwise"
        line = f"deal {number} is void and was played again; {how}"
        if workers.sandbox is None and (text := as_then(store, cast)[1]):
            line = f"{line}\nnote: {text}"
        return publish(folder, store), line
