"""Select the protection of bots, and report which protections work."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from tourney_runner.errors import UsageError
from tourney_runner.process.cgroup import Groups
from tourney_runner.process.launcher import (
    Launcher,
    PlainLauncher,
    ResourceLimits,
    raise_open_files,
)
from tourney_runner.process.procfs import IS_LINUX
from tourney_runner.process.sandbox.bwrap import BwrapLauncher, open_bwrap
from tourney_runner.process.sandbox.cgroup_delegation import control_groups
from tourney_runner.process.sandbox.landlock import LandlockLauncher, open_landlock
from tourney_runner.process.sandbox.probe_result import Finding, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BACKENDS", "Backend", "Mode", "choose", "probe", "probe_groups", "resolve"]


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


_CONFINING = tuple(backend.name for backend in BACKENDS.values() if backend.confines)


def choose(mode: Mode, *, trusted: bool) -> Launcher:
    """Return the launcher for a mode. ``auto`` takes the best protection that works here.

    Args:
        mode: The configured mode.
        trusted: Whether every bot may run without protection against malice if there is none.

    Raises:
        UsageError: The chosen mode does not work here, ``auto`` found no protection for bots that
            are not trusted, or the host allows too few open files. The message gives the remedy.
    """
    _check_open_files()
    opened = _opened(resolve(mode, trusted=trusted))
    if isinstance(opened, Launcher):
        return opened
    raise UsageError(f"sandbox: {mode}: {opened.why}; {opened.remedy}")


def resolve(mode: Mode, *, trusted: bool) -> Mode:
    """Return the mode that `choose` uses, never ``auto``; see there for arguments and errors."""
    if mode != "auto":
        return mode
    missing = []
    for name in _CONFINING:
        opened = _opened(name)
        if isinstance(opened, Launcher):
            return name
        missing.append(f"  {name}: {opened.why}; {opened.remedy}")
    if trusted:
        return "limits"
    raise UsageError(
        "bots that are not trusted need a sandbox, and none works on this machine:\n"
        + "\n".join(missing)
        + "\nmend one of these, mark the bots `trusted: true`, or use --no-sandbox to run them "
        "without protection"
    )


def _check_open_files() -> None:
    """Refuse a host whose own limit would make bots fail, which would then be blamed for it."""
    needed, files = ResourceLimits().open_files, raise_open_files()
    if files < needed:
        raise UsageError(
            f"this program may have {files} open files at most, and a bot may have {needed}: "
            f"raise the limit, for instance with `ulimit -n {4 * needed}` (a service: LimitNOFILE=)"
        )


def probe() -> list[Finding]:
    """Return the finding for each protection on this machine, the best first."""
    return [_finding(name, _opened(name)) for name in _CONFINING]


def probe_groups() -> Finding:
    """Return whether bots get control groups on this machine, in addition to any protection."""
    return _finding("cgroup", control_groups())


def _finding(name: str, opened: Launcher | Groups | UnavailableError) -> Finding:
    if isinstance(opened, UnavailableError):
        return Finding(name, works=False, detail=opened.why, remedy=opened.remedy)
    return Finding(name, works=True, detail=opened.describe())


@cache
def _opened(name: Mode) -> Launcher | UnavailableError:
    """Return a backend's launcher, or why it is unavailable. Tried once."""
    if name in _CONFINING and not IS_LINUX:
        return UnavailableError("it exists on Linux only", "run tourney on Linux")
    groups = control_groups()
    try:
        return BACKENDS[name].open(groups if isinstance(groups, Groups) else None)
    except UnavailableError as unavailable:
        return unavailable
