"""What is known of finished blocks, so that a long run is continued without reading all of it."""

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

    It follows from the deals and may be forgotten at any time; a store from which deals are taken
    forgets it.
    """

    blocks: int
    matches: int
    tallies: tuple[Tally, ...]


def keep(store: Store, blocks: int, progress: Progress) -> None:
    """Keep what is known once the first `blocks` blocks are finished.

    Raises:
        RunError: The disk fails.
    """
    known = _Checkpoint(blocks, progress.done, tuple(progress.tallies))
    store.keep_note(CHECKPOINT, msgspec.to_builtins(known))


def take_up(store: Store, planner: Planner, progress: Progress) -> None:
    """Start planner and counts where `keep` was called last; where they are if it never was."""
    known = _kept(store)
    if known is None:
        return
    planner.skip(known.blocks)
    progress.done = known.matches
    progress.tallies[: len(known.tallies)] = known.tallies  # others have joined since


def finished_blocks(store: Store) -> int:
    """How many blocks, from the first, are known to have all their deals in a store."""
    known = _kept(store)
    return 0 if known is None else known.blocks


def _kept(store: Store) -> _Checkpoint | None:
    kept = store.note(CHECKPOINT)
    if kept is None or kept.get("retired"):  # earlier versions kept benched bots there alone
        return None
    return msgspec.convert(kept, _Checkpoint)
