"""What a run sends to every Dask worker before anything is played there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.cluster.archive import archive_key
from runner.config.text import escaped, shown
from runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.bots import Bot
    from runner.config.models import Entrant
    from runner.run.wire import Setup

__all__ = ["Luggage", "pack_luggage"]


@dataclass(frozen=True)
class Luggage:
    """All but the bots' files, which are sent only where they are missing."""

    run: str
    """The name of this run on the cluster, different for each."""
    setup: Setup
    """Each host puts its own commands, folders and number of bots into it."""
    entrants: tuple[Entrant, ...]
    hashes: tuple[str, ...]
    """What each bot's hash has to be when a host has made it ready."""
    archives: tuple[str | None, ...]
    """The key of each bot's archive; None for a command that needs no files."""
    pin: bool


def pack_luggage(
    run: str, setup: Setup, entrants: Sequence[Entrant], bots: Sequence[Bot], *, pin: bool
) -> Luggage:
    """Put together what every host needs.

    Args:
        run: The name of the run on the cluster.
        setup: What a worker on this machine would be told.
        entrants: All that play, by number.
        bots: The same, staged on this machine.
        pin: Whether worker programs are kept on cores of their own.

    Raises:
        UsageError: A bot's files cannot be read any more.
    """
    return Luggage(
        run=run,
        setup=setup,
        entrants=tuple(entrants),
        hashes=tuple(bot.hash for bot in bots),
        archives=tuple(_key(entrant) for entrant in entrants),
        pin=pin,
    )


def _key(entrant: Entrant) -> str | None:
    if entrant.folder is None:
        return None
    try:
        return archive_key(entrant.folder)
    except OSError as error:
        raise UsageError(
            f"the bot {shown(entrant.name)} cannot be sent: {escaped(str(error), 500)}"
        ) from error
