"""Are all bots ready to play? Staging them, and why some cannot start."""

from __future__ import annotations

import shlex
from concurrent.futures import ThreadPoolExecutor, wait
from os import getpid
from typing import TYPE_CHECKING

from tourney_runner.bots import remove_unfinished, stage
from tourney_runner.errors import UsageError
from tourney_runner.process.orphan_cleanup import clean_up
from tourney_runner.process.process_tree import end_tree, end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from tourney_runner.bots import Bot
    from tourney_runner.config.models import Entrant
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.run.worker_messages import Checked

__all__ = ["stage_all", "why_broken"]

_AT_ONCE = 2
"""Builds are mostly waiting for compilers."""
_LINES = 20
_WIDTH = 500
"""Of a bot's stderr that is shown."""


def stage_all(
    entrants: Sequence[Entrant],
    *,
    launcher: Launcher | None = None,
    build_network: bool = False,
    alone: bool = True,
) -> tuple[list[Bot], dict[str, str]]:
    """Copy and build all bots; first remove what runs that were killed have left.

    Args:
        entrants: By number.
        launcher: How build commands are started; without any confinement if left out.
        build_network: Whether they may use the network.
        alone: Whether this process starts nothing else meanwhile, so that every new child is what
            a build has left, and is ended.

    Returns:
        Those that are ready, and why the others are not, by name.

    Raises:
        Interrupted: By a signal; builds are ended, and nothing is left of them.
    """
    become_subreaper()  # before anything starts that may get away
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
                wait(futures)
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


def _stop(futures: list[Future[Bot]]) -> None:
    """End the builds that are under way; their threads see that, and clean up after them."""
    for future in futures:
        future.cancel()
    while wait(futures, timeout=0.02).not_done:
        for pid in children(getpid()):
            end_tree(pid)  # not collected here: the thread must see how it ended


def why_broken(checked: Sequence[Checked], bots: Sequence[Bot]) -> dict[str, str]:
    """Why bots cannot start, by name.

    Args:
        checked: How each bot's start went.
        bots: By number.
    """
    return {
        bots[outcome.entrant].name: _describe(outcome, bots[outcome.entrant])
        for outcome in checked
        if outcome.ready is None
    }


def _describe(outcome: Checked, bot: Bot) -> str:
    """What the author of the bot needs to know; a stranger's text must not move our cursor."""
    lines = [line for line in outcome.stderr.splitlines() if line.strip()][-_LINES:]
    stderr = "\n".join(f"    {escaped(line, _WIDTH)}" for line in lines) or "    (nothing)"
    return (
        f"the bot {bot.name!r} cannot start: {escaped(outcome.cause, _WIDTH)}\n"
        f"  command: {escaped(shlex.join(bot.command), _WIDTH)}\n"
        f"  in: {escaped(bot.folder, _WIDTH)}\n"
        f"  its stderr:\n{stderr}"
    )
