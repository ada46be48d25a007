"""The executor whose workers are those of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import queue
import signal
import threading
from collections import deque
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING
from uuid import uuid4

from tourney_runner.cluster.cluster_client import LOCAL, ClusterClient
from tourney_runner.cluster.run_bundle import pack_run_bundle
from tourney_runner.run.executor import Executor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tourney_runner.cluster.run_bundle import RunBundle
    from tourney_runner.config.models import Entrant
    from tourney_runner.play.bot import Bot
    from tourney_runner.run.worker_process import Outcome, Setup, Task

__all__ = ["LOCAL", "DaskExecutor", "open_executor"]

_BOUND = 15.0
"""Seconds after which an unresponsive cluster is left alone: its workers end by themselves when
the run stops renewing its lease."""


def _silence_dask() -> None:
    """Silence Dask's loggers, each of which has a level of its own."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # Dask complains of ended tasks
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


class DaskExecutor(Executor):
    """Play on a Dask cluster. Only `wait` blocks, and only it raises errors of the cluster.

    Args:
        address: The scheduler's address, such as ``tcp://10.0.0.1:8786``, or `LOCAL`.
        bundle: The data that every worker needs.
        jobs: With `LOCAL`: the number of workers; None for one per core.
    """

    def __init__(self, address: str, bundle: RunBundle, jobs: int | None = None) -> None:
        _silence_dask()
        self._inbox: queue.SimpleQueue[Outcome | Exception] = queue.SimpleQueue()
        self._news: deque[str] = deque()
        self._cluster = ClusterClient(address, bundle, jobs, self._inbox, self._news)
        self._loop = asyncio.new_event_loop()
        self._main = self._loop.create_task(self._cluster.run())
        self._thread = threading.Thread(target=self._run, name="tourney-dask", daemon=True)
        self._thread.start()

    @property
    def slots(self) -> int:
        """See `Executor.slots`."""
        return max(1, self._cluster.slots)

    def submit(self, task: Task) -> None:
        """See `Executor.submit`."""
        self._call(self._cluster.submit, task)

    def wait(self, timeout: float) -> list[Outcome]:
        """See `Executor.wait`.

        Raises:
            UsageError: No cluster can play; nothing was played.
            RunError: The cluster was lost, or a task cannot be done.
        """
        outcomes: list[Outcome] = []
        try:
            item = self._inbox.get(timeout=timeout)
            while True:
                if isinstance(item, Exception):
                    self._raise(item, after=outcomes)
                    return outcomes
                outcomes.append(item)
                item = self._inbox.get_nowait()
        except queue.Empty:
            return outcomes

    def _raise(self, error: Exception, *, after: list[Outcome]) -> None:
        """Raise the error that ended the client; next time, if there are outcomes before it."""
        if not after:
            raise error
        self._inbox.put(error)

    def news(self) -> list[str]:
        """See `Executor.news`."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def close(self) -> None:
        """See `Executor.close`."""
        self._call(self._cluster.be_polite)
        self.kill()

    def kill(self) -> None:
        """See `Executor.kill`."""
        self._call(self._main.cancel)
        self._thread.join(_BOUND)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the client's thread, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    def _run(self) -> None:
        # Only this program handles Ctrl-C: processes that this thread starts inherit the blocked
        # SIGINT. Dask's first process starts the resource tracker, which would unblock it.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # noqa: BLE001 - `wait` raises it
            self._inbox.put(error)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


def open_executor(  # noqa: PLR0913 - the facts of a run that a cluster needs
    address: str,
    setup: Setup,
    entrants: Sequence[Entrant],
    bots: Sequence[Bot],
    *,
    jobs: int | None,
    pin: bool,
) -> DaskExecutor:
    """Return the executor of a run.

    Args:
        address: As `run.executor.cluster_address` returns it.
        setup: The setup of a worker on this machine.
        entrants: All entrants, by number.
        bots: The same, staged on this machine.
        jobs: With `LOCAL`: the number of workers; None for one per core.
        pin: Whether matches are kept on cores of their own.

    Raises:
        UsageError: A bot's files can no longer be read.
    """
    bundle = pack_run_bundle(uuid4().hex, setup, entrants, bots, pin=pin)
    return DaskExecutor(address, bundle, jobs)
