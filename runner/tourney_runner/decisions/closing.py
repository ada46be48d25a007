"""Closing a tournament, which publishes its secret seeds and rejects further deals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.decisions.sanctions import open_results, publish
from tourney_runner.errors import UsageError
from tourney_runner.text import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.publish.summary import Summary

__all__ = ["close_tournament", "seed_line"]


def close_tournament(folder: Path, *, migrate: bool = True) -> Summary:
    """Close a tournament, and publish it with its seeds; a closed one is only published again.

    Args:
        folder: The results folder.
        migrate: Whether results of an earlier version may be converted.

    Returns:
        The table.

    Raises:
        UsageError: Planned deals are missing, or a run is writing there.
        RunError: The disk fails.
    """
    with open_results(folder, migrate=migrate) as store:
        record = store.tournament()
        if not record.complete:
            raise UsageError(
                f"{folder}: not closed, since planned deals are missing; run the tournament to its"
                " end first"
            )
        if record.closed is None:
            store.change(closed=utc_now(), sealed=False)
        return publish(folder, store)


def seed_line(summary: Summary) -> str:
    """Return the line that shows the seeds of a closed tournament."""
    seeds = [f"the seed: {summary.seed}"]
    seeds += [f"from round {one.first_round + 1}: {one.seed}" for one in summary.later_seeds]
    return "; ".join(seeds)
