"""What protects an author's machine from bots that he runs himself.

In a tournament a bot that nobody vouches for is refused where no sandbox works. An author who
tries his own bot is warned instead.
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
    """How bots are started, and what to say of it."""

    launcher: Launcher
    warning: str = ""


def protection() -> Protection:
    """The best protection that works here; without any, a warning."""
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
    """Leave no process behind that a bot has started, and nothing of programs that were killed."""
    known = set(children(os.getpid()))
    become_subreaper()
    clean_up()
    try:
        yield
    finally:
        end_unknown_children(known)
