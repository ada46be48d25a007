"""The ways to start bots, the best protection first: a new one is a file of its own and a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.process.launcher import PlainLauncher
from runner.process.sandbox.bwrap import open_bwrap
from runner.process.sandbox.landlock import open_landlock

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.process.cgroup import Groups
    from runner.process.launcher import Launcher

__all__ = ["BACKENDS", "Backend"]


@dataclass(frozen=True)
class Backend:
    """One way to start bots."""

    name: str
    open: Callable[[Groups | None], Launcher]
    """Makes its launcher after a trial run of the real thing, with the groups that bots get.

    Raises:
        UnavailableError: It does not work on this machine.
    """


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("bwrap", open_bwrap),
        Backend("landlock", open_landlock),
        Backend("limits", PlainLauncher),
        Backend("off", lambda _: PlainLauncher(limited=False)),
    )
}
