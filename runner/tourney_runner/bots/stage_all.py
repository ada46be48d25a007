"""Stage all bots of a tournament, two at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from os import getpid
from time import monotonic
from typing import TYPE_CHECKING

from tourney_runner.bots.staging import remove_unfinished, stage
from tourney_runner.errors import UsageError
from tourney_runner.process.orphan_cleanup import clean_up
from tourney_runner.process.process_tree import end_tree, end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children
from tourney_runner.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from tourney_runner.bots.bot import Bot
    from tourney_runner.config.models import Entrant
    from tourney_runner.process.launcher import Launcher

__all__ = ["stage_all"]

_FIRST_LINE_AFTER = 5.0
"""Seconds of staging before the first progress line. Each pause is twice as long as the last."""
_AT_ONCE = 2
"""Number of builds that run at the same time."""


def stage_all(
    entrants: Sequence[Entrant],
    *,
    launcher: Launcher | None = None,
    build_network: bool = False,
    alone: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[list[Bot], dict[str, str]]:
    """Stage all bots, after removing what killed runs left behind.

    Args:
        entrants: The entrants, by number.
        launcher: Starts build commands. They are not confined if it is left out.
        build_network: Whether build commands may use the network.
        alone: Whether this process starts nothing else in the meantime. New child processes are
            then leftovers of builds and are ended.
        say: Called with a progress line from time to time while builds run.

    Returns:
        The bots that are ready, and the reasons why others are not, by name.

    Raises:
        Interrupted: A signal arrived. Running builds are ended and their files removed.
    """
    become_subreaper()  # before anything starts that could outlive this process
    clean_up()
    remove_unfinished()
    known = set(children(getpid()))
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            futures = [
                pool.submit(stage, entrant, launcher=launcher, build_network=build_network)
                for entrant in entrants
            ]
            try:
                _wait(entrants, futures, say)
            except BaseException:
                _stop(futures)
                raise
    finally:
        if alone:
            end_unknown_children(known)
    ready: list[Bot] = []
    broken: dict[str, str] = {}
    for entrant, future in zip(entrants, futures, strict=True):
        try:
            ready.append(future.result())
        except UsageError as error:
            broken[entrant.name] = str(error)
    return ready, broken


def _wait(
    entrants: Sequence[Entrant], futures: Sequence[Future[Bot]], say: Callable[[str], None]
) -> None:
    """Wait until all bots are staged, and report the running builds from time to time."""
    began = monotonic()
    pause = _FIRST_LINE_AFTER
    while wait(futures, timeout=pause).not_done:
        pause *= 2
        names = [
            shown(entrant.name)
            for entrant, future in zip(entrants, futures, strict=True)
            if future.running()
        ]
        waiting = sum(not future.done() for future in futures) - len(names)
        more = f"; {waiting} more to come" if waiting > 0 else ""
        say(f"building {', '.join(names)} ({monotonic() - began:.0f} s so far){more}")


def _stop(futures: list[Future[Bot]]) -> None:
    """End the running builds. Their threads notice it and clean up."""
    for future in futures:
        future.cancel()
    while wait(futures, timeout=0.02).not_done:
        for pid in children(getpid()):
            end_tree(pid)  # not reaped here: the build's thread needs its exit status
