"""The data of a run that is sent to every Dask worker before it plays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.bots.staging import version_name
from tourney_runner.cluster.bot_archive import archive_key
from tourney_runner.errors import UsageError
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.bots import Bot
    from tourney_runner.config.models import Entrant
    from tourney_runner.run.worker_messages import Setup

__all__ = ["BotBundle", "RunBundle", "pack_run_bundle"]


@dataclass(frozen=True)
class BotBundle:
    """One bot of a run."""

    bot: Bot
    """The bot as it was staged on the machine that runs the tournament."""
    entrant: Entrant | None
    """The entrant for each host to stage. None if the sources are gone or have changed since the
    bot joined: then the staged copy itself is sent."""
    folder: Path | None
    """The files to be sent, on the machine of the runner; None if it needs none."""
    archive: str | None
    """The key of their archive."""

    def moved(self, folder: Path) -> Bot:
        """Return the staged copy at another place."""
        old, new = self.bot.folder, str(folder)
        command = tuple(
            new + word.removeprefix(old) if Path(word).is_relative_to(old) else word
            for word in self.bot.command
        )
        return msgspec.structs.replace(self.bot, folder=new, command=command)


@dataclass(frozen=True)
class RunBundle:
    """The data of a run without the bots' files, which are sent only where they are missing."""

    run: str
    """The unique name of this run on the cluster."""
    setup: Setup
    """The setup of workers; each host replaces commands and folders with its own."""
    bots: dict[int, BotBundle]
    """The bots that may play, by number."""
    pin: bool

    @property
    def names(self) -> dict[int, str]:
        """The names of the bots, by number."""
        return {number: bot_bundle.bot.name for number, bot_bundle in self.bots.items()}


def pack_run_bundle(
    run: str, setup: Setup, entrants: Sequence[Entrant], bots: Sequence[Bot], *, pin: bool
) -> RunBundle:
    """Return the data that every host needs.

    Args:
        run: The name of the run on the cluster.
        setup: The setup of a worker on this machine.
        entrants: All entrants, by number.
        bots: The same, staged on this machine; bots without a command no longer play.
        pin: Whether worker programs are kept on cores of their own.

    Raises:
        UsageError: A bot's files can no longer be read.
    """
    bundles = {
        bot.number: _bot_bundle(entrant, bot)
        for entrant, bot in zip(entrants, bots, strict=True)
        if bot.command
    }
    return RunBundle(run, setup, bundles, pin)


def _bot_bundle(entrant: Entrant, bot: Bot) -> BotBundle:
    staged = Path(bot.folder)
    try:
        if entrant.folder is None and entrant.command != bot.command:
            return BotBundle(bot, entrant, None, None)
        if entrant.folder is not None:
            key = archive_key(entrant.folder, staged=False)
            if version_name(entrant, key) == staged.parent.name:
                return BotBundle(bot, entrant, entrant.folder, key)
        return BotBundle(bot, None, staged, archive_key(staged, staged=True))
    except OSError as error:
        raise UsageError(
            f"the bot {shown(bot.name)} cannot be sent: {escaped(str(error), 500)}"
        ) from error
