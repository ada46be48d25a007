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

from tourney_runner.bots.bot import ALGORITHM, Bot
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
        Path(unfinished).replace(folder / _file_name(bot.hash))


def recall(bot_hash: str, cache: Path | None = None) -> Bot | None:
    """Return the staged bot with that hash, or None if it is no longer in the cache.

    Args:
        bot_hash: The hash; one without the name of its algorithm also finds the same bot under the
            hash that it has today.
        cache: The cache folder; `bots.cache.cache_folder` if left out.
    """
    folder = (cache or cache_folder()) / _FOLDER
    bot = _read(folder / _file_name(bot_hash))
    if bot is None and ":" not in bot_hash:
        bot = _read(folder / _file_name(f"{ALGORITHM}:{bot_hash}"))
    if bot is None or bot_hash not in {bot.hash, bot.digits}:
        return None
    staged = Slot(Path(bot.folder).parent).is_complete() and os.access(bot.command[0], os.X_OK)
    return msgspec.structs.replace(bot, hash=bot_hash) if staged else None


def _file_name(bot_hash: str) -> str:
    return f"{bot_hash.replace(':', '-')}.json"


def _read(path: Path) -> Bot | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Bot)
    except (OSError, msgspec.DecodeError):
        return None
