"""The list of ways to start bots. To add one, write a module and add a name and a line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.process.sandbox.bwrap import BwrapLauncher, open_bwrap
from tourney_runner.process.sandbox.landlock import LandlockLauncher, open_landlock

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.cgroup import Groups
    from tourney_runner.process.launcher import Launcher

__all__ = ["BACKENDS", "Backend", "Mode"]

Mode = Literal["auto", "bwrap", "landlock", "limits", "off"]
"""The modes of a configuration: a backend's name, or ``auto`` for the best protection that
works."""


@dataclass(frozen=True)
class Backend:
    """A way to start bots."""

    name: Mode
    launcher: type[Launcher]
    open: Callable[[Groups | None], Launcher]
    """A function that returns its launcher after a trial run, given the control groups for bots.

    Raises:
        UnavailableError: It does not work on this machine.
    """

    @property
    def confines(self) -> bool:
        """Return whether it protects the host and the other bots from malice."""
        return self.launcher.confines


BACKENDS: dict[Mode, Backend] = {
    backend.name: backend
    for backend in (
        Backend("bwrap", BwrapLauncher, open_bwrap),
        Backend("landlock", LandlockLauncher, open_landlock),
        Backend("limits", PlainLauncher, PlainLauncher),
        Backend("off", PlainLauncher, lambda _: PlainLauncher(limited=False)),
    )
}
"""Backends by name, the best protection first."""
