"""Bots that were staged before, found again by their hash alone.

Results name the bots that played by hash. Whoever has them in the cache can play with them
again: after their sources have changed, say, or to verify deals. What the tournament granted
them (variables may be secrets) is kept here, in the user's own cache, and never in results.
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
    """Note how bots are started.

    Args:
        bots: As staged.
        cache: Where they are; `bots.cache.cache_folder` if left out.

    Raises:
        OSError: The cache cannot be written.
    """
    folder = (cache or cache_folder()) / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for bot in bots:
        descriptor, unfinished = tempfile.mkstemp(dir=folder)  # for this user's eyes alone
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(bot))
        Path(unfinished).replace(folder / f"{bot.hash}.json")


def recall(bot_hash: str, cache: Path | None = None) -> Bot | None:
    """The bot of that hash as it was staged; None if it is not in the cache any more."""
    path = (cache or cache_folder()) / _FOLDER / f"{bot_hash}.json"
    try:
        bot = msgspec.json.decode(path.read_bytes(), type=Bot)
    except (OSError, msgspec.DecodeError):
        return None
    staged = Slot(Path(bot.folder).parent).is_complete() and os.access(bot.command[0], os.X_OK)
    return bot if staged and bot.hash == bot_hash else None
