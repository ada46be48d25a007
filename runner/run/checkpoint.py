"""What is known of finished blocks, so that a long run is continued without reading all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from runner.play.settings import Retired
from runner.run.progress import Tally

if TYPE_CHECKING:
    from runner.results.store import Store
    from runner.run.planner import Planner
    from runner.run.progress import Progress

__all__ = ["keep", "take_up"]

_KEY = "checkpoint"


class _Checkpoint(msgspec.Struct, frozen=True):
    """Counts of the first `blocks` blocks, all of whose deals are stored.

    It follows from the deals and may be forgotten at any time; whoever takes deals out of a store
    must do so.
    """

    blocks: int
    matches: int
    tallies: tuple[Tally, ...]
    retired: tuple[Retired, ...]


def keep(store: Store, blocks: int, planner: Planner, progress: Progress) -> None:
    """Keep what is known once the first `blocks` blocks are finished.

    Raises:
        RunError: The disk fails.
    """
    known = _Checkpoint(blocks, progress.done, tuple(progress.tallies), planner.retired)
    store.set_meta(**{_KEY: msgspec.to_builtins(known)})


def take_up(store: Store, planner: Planner, progress: Progress) -> None:
    """Start planner and counts where `keep` was called last; where they are if it never was."""
    kept = store.meta(_KEY)
    if kept is None:
        return
    known = msgspec.convert(kept, _Checkpoint)
    planner.skip(known.blocks, known.retired)
    progress.done = known.matches
    progress.tallies[: len(known.tallies)] = known.tallies  # others have joined since
