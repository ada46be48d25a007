"""What plays the matches, if not workers of this machine alone: a Dask cluster."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.bots import Bot
    from tourney_runner.config.models import Entrant
    from tourney_runner.run.executor import Executor
    from tourney_runner.run.worker_messages import Setup

__all__ = ["chosen_cluster", "on_cluster"]

_VARIABLE = "DASK_SCHEDULER_ADDRESS"


def chosen_cluster(option: str | None, executor: str) -> str | None:
    """The cluster to play on: the address of its scheduler, or ``local``; None for none.

    Args:
        option: What ``--dask`` says; it comes first.
        executor: ``local`` or ``dask``, as configured. ``dask`` alone takes the scheduler that
            ``DASK_SCHEDULER_ADDRESS`` names, else a cluster of its own on this machine.

    Raises:
        UsageError: Dask is not installed.
    """
    if option is None and executor == "local":
        return None
    if find_spec("distributed") is None:
        raise UsageError(
            "playing on a cluster needs Dask, here and on every machine of the cluster: pip install"
            " '.[dask]' in a checkout of tourney, pip install 'tourney-runner[dask]' without one"
        )
    return option or os.environ.get(_VARIABLE) or "local"


def on_cluster(  # noqa: PLR0913 - all that a cluster needs to know of a run
    address: str,
    setup: Setup,
    entrants: Sequence[Entrant],
    bots: Sequence[Bot],
    *,
    jobs: int | None,
    pin: bool,
) -> Executor:
    """The executor of a cluster.

    Args:
        address: As `chosen_cluster` gives it.
        setup: What a worker on this machine would be told.
        entrants: All that play, by number.
        bots: The same, staged on this machine.
        jobs: With ``local``: how many workers; None for one a core.
        pin: Whether matches are kept on cores of their own.

    Raises:
        UsageError: A bot's files cannot be read any more.
    """
    # A room below this one, so only here and only when it is asked for: Dask is an extra.
    from tourney_runner.cluster.dask_executor import open_executor  # noqa: PLC0415

    return open_executor(address, setup, entrants, bots, jobs=jobs, pin=pin)
