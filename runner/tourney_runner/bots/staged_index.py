"""An index of staged bots by hash.

Results identify bots by hash. With this index, a bot in the cache can play again after its sources
have changed, for example to verify deals. The rights that the tournament granted it (variables may
be secret) are kept in the user's own cache and never in results.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.bots.bot import Bot
from tourney_runner.bots.cache import Slot, cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["recall", "remember"]

_FOLDER = "entrants"


def remember(bots: Iterable[Bot], cache: Path | None = None) -> None:
    """Store how bots are started.

    Args:
        bots: Staged bots.
        cache: The cache folder; `bots.cache.cache_folder` if left out.

    Raises:
        OSError: The cache cannot be written.
    """
    folder = (cache or cache_folder()) / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for bot in bots:
        descriptor, unfinished = tempfile.mkstemp(dir=folder)  # readable by this user only
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(bot))
        Path(unfinished).replace(folder / f"{bot.hash}.json")


def recall(bot_hash: str, cache: Path | None = None) -> Bot | None:
    """Return the staged bot with that hash, or None if it is no longer in the cache."""
    path = (cache or cache_folder()) / _FOLDER / f"{bot_hash}.json"
    try:
        bot = msgspec.json.decode(path.read_bytes(), type=Bot)
    except (OSError, msgspec.DecodeError):
        return None
    staged = Slot(Path(bot.folder).parent).is_complete() and os.access(bot.command[0], os.X_OK)
    return bot if staged and bot.hash == bot_hash else None
