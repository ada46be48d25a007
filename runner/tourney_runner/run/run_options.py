"""How to run a tournament, as opposed to what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.config.models import Entrant
    from tourney_runner.process.sandbox import Mode
    from tourney_runner.run.dispatcher import Enough

__all__ = ["RunChoices"]


@dataclass(frozen=True)
class RunChoices:
    """What the command line, a season or a comparison chooses for one run."""

    folder: Path
    again: str
    """The command that continues, for messages."""
    jobs: int | None = None
    """Workers; one for each free core if None."""
    pin: bool = True
    dask: str | None = None
    """The address of a Dask scheduler, or ``local``; see `run.executor_choice`."""
    fresh: bool = False
    skip_broken: bool = False
    added: tuple[Entrant, ...] = ()
    """Bots beside those of the configuration; one with the name of another is a new version."""
    sealed: bool = False
    """Whether a secret seed stays secret when all is played, since others may still join."""
    new_versions: bool = False
    """Whether any bot whose files have changed joins as a new version of itself."""
    sandbox: Mode | None = None
    """Instead of the configured one."""
    enough: Enough | None = None
    """When to end before the last round; see `run.dispatcher.Conductor.play`."""
