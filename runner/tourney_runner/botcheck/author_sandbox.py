"""The protection of an author's machine from bots that the author tries out.

A tournament refuses a bot that is not trusted if no sandbox works. Authors who try their own bots
are warned instead.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.errors import UsageError
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.process.orphan_cleanup import clean_up
from tourney_runner.process.process_tree import end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children
from tourney_runner.process.sandbox import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.process.launcher import Launcher

__all__ = ["Protection", "protection", "tidy"]


class Protection(NamedTuple):
    """A launcher for bots, and a warning if it does not confine them."""

    launcher: Launcher
    warning: str = ""


def protection() -> Protection:
    """Return the best protection that works here, or a plain launcher with a warning."""
    try:
        return Protection(choose("auto", trusted=False))
    except UsageError:
        return Protection(
            PlainLauncher(),
            "no sandbox works on this machine: the bots run with your own rights here, and a "
            "tournament elsewhere may allow them less",
        )


@contextmanager
def tidy() -> Iterator[None]:
    """End all processes that bots have started, and clean up after programs that were killed."""
    known = set(children(os.getpid()))
    become_subreaper()
    clean_up()
    try:
        yield
    finally:
        end_unknown_children(known)
