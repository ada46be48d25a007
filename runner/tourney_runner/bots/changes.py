"""Differences between two versions of a bot, from the copies that were staged of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.bots.cache import recall
from tourney_runner.bots.sources import digest, scan
from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from tourney_runner.play.bot import Bot

__all__ = ["changes_since"]


def changes_since(bot_hash: str, now: Bot, sources: Path | None) -> list[str] | None:
    """Return the changes of a bot since an earlier version of it, such as ``bot.py changed``.

    Args:
        bot_hash: The hash of the earlier version.
        now: The bot as it was staged now.
        sources: Its folder; what a build makes in the copy alone is not listed.

    Returns:
        The changes, files first; None if the copy of the earlier version is gone or unreadable.
    """
    before = recall(bot_hash)
    if before is None:
        return None
    try:
        was, is_now = _digests(before), _digests(now)
        own = {entry.path for entry in scan(sources)} if sources else set()
    except (OSError, UsageError):
        return None
    changes = [f"{path} added" for path in own - was.keys()]
    changes += [f"{path} removed" for path in was.keys() - is_now.keys()]
    changes += [f"{path} changed" for path in own & was.keys() if was[path] != is_now.get(path)]
    changes.sort()
    if before.command != now.command:
        changes.append("its command changed")
    if before.env != now.env:
        changes.append("its env changed")
    return changes or ["its build, or a file that it uses outside its folder, changed"]


def _digests(bot: Bot) -> dict[str, str]:
    """Return the digest of each file and link of a staged copy, by path."""
    folder = Path(bot.folder)
    return {
        entry.path: digest(folder, [entry])
        for entry in scan(folder, staged=True)
        if entry.kind != "folder"
    }
