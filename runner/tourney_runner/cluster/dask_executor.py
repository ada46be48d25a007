"""Workers on a Dask cluster, behind the seam that the workers of one machine are behind."""

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

    from tourney_runner.bots import Bot
    from tourney_runner.cluster.run_bundle import RunBundle
    from tourney_runner.config.models import Entrant
    from tourney_runner.run.worker_messages import Outcome, Setup, Task

__all__ = ["LOCAL", "DaskExecutor", "open_executor"]

_BOUND = 15.0
"""Seconds after which a cluster that does not let go is left to itself: its workers end what
they were at when they do not hear of the run any more."""


def _silence_dask() -> None:
    """We tell what matters; each of Dask's loggers has a level of its own."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # Dask forgets tasks that were ended
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


class DaskExecutor(Executor):
    """Plays on a Dask cluster. Nothing is waited for here: what goes wrong is told by `wait`.

    Args:
        address: The scheduler's, such as ``tcp://10.0.0.1:8786``, or `LOCAL`.
        bundle: What every worker needs.
        jobs: With `LOCAL`: how many workers; None for one a core.
    """

    def __init__(self, address: str, bundle: RunBundle, jobs: int | None = None) -> None:
        _silence_dask()
        self._inbox: queue.SimpleQueue[Outcome | Exception] = queue.SimpleQueue()
        self._news: deque[str] = deque()
        self._engine = ClusterClient(address, bundle, jobs, self._inbox, self._news)
        self._loop = asyncio.new_event_loop()
        self._main = self._loop.create_task(self._engine.run())
        self._thread = threading.Thread(target=self._run, name="tourney-dask", daemon=True)
        self._thread.start()

    @property
    def slots(self) -> int:
        """See `Executor.slots`."""
        return max(1, self._engine.slots)

    def submit(self, task: Task) -> None:
        """See `Executor.submit`."""
        self._tell(self._engine.submit, task)

    def wait(self, timeout: float) -> list[Outcome]:
        """See `Executor.wait`.

        Raises:
            UsageError: There is no cluster that can play; nothing was played.
            RunError: It was lost, or a task cannot be done.
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
        """Raise what ended the engine; next time, if something was done before."""
        if not after:
            raise error
        self._inbox.put(error)

    def news(self) -> list[str]:
        """See `Executor.news`."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def close(self) -> None:
        """See `Executor.close`."""
        self._tell(self._engine.be_polite)
        self.kill()

    def kill(self) -> None:
        """See `Executor.kill`."""
        self._tell(self._main.cancel)
        self._thread.join(_BOUND)

    def _tell(self, function: Callable[..., object], *words: object) -> None:
        """Call something in the thread of the engine, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *words)

    def _run(self) -> None:
        # Ctrl-C is for us alone: what this thread starts inherits that it waits for SIGINT. The
        # resource tracker, which starts with Dask's first process, would have it no longer wait.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            self._inbox.put(error)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


def open_executor(  # noqa: PLR0913 - all that a cluster needs to know of a run
    address: str,
    setup: Setup,
    entrants: Sequence[Entrant],
    bots: Sequence[Bot],
    *,
    jobs: int | None,
    pin: bool,
) -> DaskExecutor:
    """The executor of a run; arguments and errors as for `run.executor_choice.on_cluster`."""
    bundle = pack_run_bundle(uuid4().hex, setup, entrants, bots, pin=pin)
    return DaskExecutor(address, bundle, jobs)
