"""The client of a Dask cluster: it follows the Dask workers and gives tasks to each of them.

Everything here happens in one thread; the inbox and the news lead to another one.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import dask.config
import msgspec
from distributed import Client, LocalCluster

from tourney_runner import __version__
from tourney_runner.cluster import worker_plugin
from tourney_runner.cluster.machines import Machines
from tourney_runner.cluster.tasks import TaskQueue
from tourney_runner.cluster.worker_session import (
    BadMachineError,
    Shared,
    UnusableWorkerError,
    WorkerSession,
    first_error,
    lacks_tourney,
    other_version,
)
from tourney_runner.errors import RunError, TourneyError, UsageError
from tourney_runner.process.cores import available
from tourney_runner.process.folder_tree import temp_prefix
from tourney_runner.run.watchdog import Silence
from tourney_runner.run.worker_process import read_outcome

if TYPE_CHECKING:
    from collections import deque
    from queue import SimpleQueue

    from tourney_runner.cluster.run_bundle import RunBundle
    from tourney_runner.run.worker_process import Outcome, Task

__all__ = ["LOCAL", "ClusterClient"]

LOCAL = "local"
"""The name, instead of an address, of a cluster that is started on this machine."""

_PATIENCE = 30.0
"""Seconds to wait for the scheduler, and for a worker that can play."""
_SLOW, _LOST = 5.0, 60.0
"""Seconds of silence of the scheduler after which workers are no longer blamed for it, and after
which it counts as lost."""
_LOOK = 0.5
"""Seconds between two checks of the list of workers."""
_SPARING = {"distributed.worker.profile.enabled": False}
"""Dask profiles its tasks a hundred times a second: half of the CPU of an idle worker."""
_LEAVING = 8.0
"""Seconds that workers get to end the processes of the run."""
_PAUSED = "is paused by Dask, because its memory is used up (see its --memory-limit)"


class ClusterClient:
    """A client that runs tasks on a cluster until it is cancelled.

    Args:
        address: The scheduler's address, or `LOCAL`.
        bundle: The data that every worker needs.
        jobs: With `LOCAL`: the number of workers; None for one per core.
        inbox: Gets the outcomes, and the error that ended the client, if any.
        news: Gets lines for the user.
    """

    def __init__(
        self,
        address: str,
        bundle: RunBundle,
        jobs: int | None,
        inbox: SimpleQueue[Outcome | Exception],
        news: deque[str],
    ) -> None:
        self._address = address
        self._bundle = bundle
        self._jobs = jobs
        self._inbox = inbox
        self._news = news
        self._queue = TaskQueue()
        self._machines = Machines(bundle.bots)
        self._sessions: dict[str, tuple[WorkerSession, asyncio.Task[None]]] = {}
        self._refused: dict[str, UnusableWorkerError] = {}
        self._paused: set[str] = set()
        self._unanswered = 0.0
        self._politely = False
        self._client: Any = None

    @property
    def slots(self) -> int:
        """The number of matches that can be played at once now."""
        return self._queue.places

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            UsageError: No cluster can play.
            RunError: The cluster was lost, or a task cannot be done.
        """
        async with AsyncExitStack() as stack:
            self._client = await self._connected(stack)
            stack.push_async_callback(self._leave)
            self._client.subscribe_topic(worker_plugin.topic(self._bundle.run), self._on_message)
            async with first_error(), asyncio.TaskGroup() as group:
                await self._watch(group)

    def submit(self, task: Task) -> None:
        """Queue a task; called in the client's own thread."""
        self._queue.put(task)

    def be_polite(self) -> None:
        """Give workers and bots time to end when the client is cancelled."""
        self._politely = True

    async def _connected(self, stack: AsyncExitStack) -> Any:
        where: Any = self._address
        if where == LOCAL:
            scratch = tempfile.TemporaryDirectory(
                prefix=temp_prefix("run"), ignore_cleanup_errors=True
            )
            folder = stack.enter_context(scratch)
            stack.enter_context(dask.config.set({"temporary_directory": folder} | _SPARING))
            where = await stack.enter_async_context(
                LocalCluster(
                    n_workers=self._jobs or available(),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would take a fixed port
                    silence_logs=logging.CRITICAL,
                    asynchronous=True,
                )
            )
        try:
            client = Client(where, asynchronous=True, timeout=_PATIENCE, set_as_default=False)
            stack.push_async_exit(client)  # it must be closed even if it cannot connect
            await client
            version = await client.run_on_scheduler(worker_plugin.about)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {self._address} ({error}); start one with `dask"
                " scheduler`, and give the address that it shows"
            ) from error
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the Dask scheduler {lacks_tourney()}") from error
        if version != __version__:
            raise UsageError(f"the Dask scheduler {other_version(version)}")
        return client

    async def _watch(self, group: asyncio.TaskGroup) -> NoReturn:
        """Follow the arrivals and departures of workers, as long as the client runs."""
        alone_since = time.monotonic()
        shared = Shared(
            self._client,
            self._bundle,
            self._queue,
            self._machines,
            self._inbox,
            self._news,
            scheduler_is_slow=lambda: self._unanswered > _SLOW,
        )
        while True:
            there = await self._workers()
            running = {at: one for at, one in there.items() if one["status"] == "running"}
            self._paused = there.keys() - running.keys()
            for address in self._sessions.keys() - running.keys():
                self._dismiss(address)
            for address, details in running.items():
                self._employ(group, address, details, shared)
            now = time.monotonic()
            if self._may_play():
                alone_since = now
            self._give_up_if_alone(len(there), now - alone_since)
            await asyncio.sleep(_LOOK)

    async def _workers(self) -> dict[str, dict[str, Any]]:
        """Return the Dask workers by address; paused ones start no tasks."""
        asked = asyncio.ensure_future(self._client.scheduler.identity(n_workers=-1))
        silence = Silence()
        silence.restart(time.monotonic())
        while not asked.done() and self._is_connected and self._unanswered < _LOST:
            await asyncio.wait({asked}, timeout=_LOOK)
            self._look(silence)
        self._unanswered = 0.0
        if not asked.done() or asked.exception() is not None:
            asked.cancel()
            raise RunError(
                f"the Dask scheduler at {self._address} is lost. What was stored before is safe;"
                " once it and its workers run again, the same command continues."
            )
        workers: dict[str, dict[str, Any]] = asked.result()["workers"]
        return {
            address: details
            for address, details in workers.items()
            if details["status"] in {"running", "paused"}
        }

    def _look(self, silence: Silence) -> None:
        report = silence.check(time.monotonic())
        self._unanswered = report.seconds
        if report.due:
            self._news.append(
                f"the Dask scheduler at {self._address} has not answered for {report.seconds:.0f} s"
            )

    @property
    def _is_connected(self) -> bool:
        """True if the scheduler is connected; a restarted one would not know this client."""
        return bool(self._client.status == "running")

    def _give_up_if_alone(self, there: int, alone: float) -> None:
        """Give up if no worker is left that could play."""
        refusals = [f"\n{_refusal(*one)}" for one in self._refused.items()]
        unresponsive = [
            f"\nthe Dask worker {address} does not answer"
            for address, (session, _) in self._sessions.items()
            if session.is_unresponsive
        ]
        paused = [f"\nthe Dask worker {address} {_PAUSED}" for address in sorted(self._paused)]
        reasons = "".join((*refusals, *unresponsive, *paused))
        if there and len(self._refused) == there and not self._may_play():
            raise self._ending(f"no Dask worker at {self._address} can play here:{reasons}")
        if alone > _PATIENCE:
            raise self._ending(
                f"no Dask worker at {self._address} could play for {_PATIENCE:g} s; start some with"
                f" `dask worker {self._address} --nworkers auto --nthreads 1`{reasons}"
            )

    def _may_play(self) -> bool:
        return any(
            not work.done() and not one.is_unresponsive for one, work in self._sessions.values()
        )

    def _ending(self, message: str) -> TourneyError:
        curable = any(isinstance(reason, BadMachineError) for reason in self._refused.values())
        curable |= any(session.is_unresponsive for session, _ in self._sessions.values())
        if self._machines.starts is None and not curable:
            return UsageError(f"{message}\nNothing was played.")
        return RunError(
            f"{message}\nNo bot is blamed, and what was stored before is safe; run the same command"
            " again to continue."
        )

    def _employ(
        self, group: asyncio.TaskGroup, address: str, details: dict[str, Any], shared: Shared
    ) -> None:
        """Start a session with a worker unless it still has one."""
        known = self._sessions.get(address)
        if address in self._refused or (known is not None and not known[1].done()):
            return
        session = WorkerSession(address, details, shared)
        self._sessions[address] = session, group.create_task(self._work(address, session))

    async def _work(self, address: str, session: WorkerSession) -> None:
        try:
            await session.work()
        except UnusableWorkerError as reason:
            self._refused[address] = reason
            self._news.append(f"{_refusal(address, reason)}; it is left out")

    def _dismiss(self, address: str) -> None:
        _, work = self._sessions.pop(address)
        work.cancel()
        if self._refused.pop(address, None) is None:
            what = _PAUSED if address in self._paused else "is gone"
            self._news.append(f"the Dask worker {address} {what}; its matches are played again")

    def _on_message(self, event: tuple[float, bytes | str]) -> None:
        """Handle a worker's message: it waits for a bot, or has a line for the user."""
        _, said = event
        if isinstance(said, str):
            self._news.append(said)
            return
        with suppress(msgspec.DecodeError):
            self._inbox.put(read_outcome(said))

    async def _leave(self) -> None:
        """End the run on the cluster, as far as its workers can be reached."""
        run = self._bundle.run
        if not self._is_connected:  # in that case the workers end it themselves
            return
        reachable = [
            at for at, (session, _) in self._sessions.items() if not session.is_unresponsive
        ]
        with suppress(OSError, TimeoutError):
            leaving = self._client.run(
                worker_plugin.leave,
                run,
                politely=self._politely,
                workers=reachable,
                on_error="ignore",
            )
            await asyncio.wait_for(leaving, _LEAVING)


def _refusal(address: str, reason: UnusableWorkerError) -> str:
    return f"the Dask worker {address} {reason}"
