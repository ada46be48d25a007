"""Counts of finished blocks, with which a long run continues without reading all deals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.results.store import CHECKPOINT, Store
from tourney_runner.run.progress import Tally

if TYPE_CHECKING:
    from tourney_runner.run.planner import Planner
    from tourney_runner.run.progress import Progress

__all__ = ["finished_blocks", "keep", "take_up"]


class _Checkpoint(msgspec.Struct, frozen=True):
    """Counts of the first `blocks` blocks, all of whose deals are stored.

    It is derived from the deals and can be discarded at any time. The store discards it when deals
    are removed.
    """

    blocks: int
    deals: int
    finished: int
    """Finished matches, see `Progress.finished`."""
    tallies: tuple[Tally, ...]


def keep(store: Store, blocks: int, progress: Progress) -> None:
    """Store the counts once the first `blocks` blocks are finished.

    Raises:
        RunError: The disk fails.
    """
    known = _Checkpoint(blocks, progress.done, progress.finished, tuple(progress.tallies))
    store.keep_note(CHECKPOINT, msgspec.to_builtins(known))


def take_up(store: Store, planner: Planner, progress: Progress) -> None:
    """Set planner and counts to the last stored checkpoint, if there is one."""
    known = _kept(store)
    if known is None:
        return
    planner.skip(known.blocks)
    progress.done, progress.finished = known.deals, known.finished
    progress.tallies[: len(known.tallies)] = known.tallies  # others have joined since


def finished_blocks(store: Store) -> int:
    """Return the number of blocks, from the first, known to have all their deals stored."""
    known = _kept(store)
    return 0 if known is None else known.blocks


def _kept(store: Store) -> _Checkpoint | None:
    kept = store.note(CHECKPOINT)
    if kept is None or "deals" not in kept:  # earlier versions counted matches
        return None
    return msgspec.convert(kept, _Checkpoint)
