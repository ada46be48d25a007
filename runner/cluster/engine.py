"""The client of a Dask cluster: a coroutine for every Dask worker and for every match at a time.

Each task is sent to a worker that is known to be ready, and sent again when that worker goes:
Dask's own scheduling cannot know which workers have the bots. Everything here happens in one
thread, apart from `submit`, `stop` and what the inbox and the news are for.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import dask.config
import msgspec
from distributed import Client, LocalCluster

from runner import __version__
from runner.cluster import host
from runner.cluster.archive import pack
from runner.cluster.host import StrangerError
from runner.cluster.machines import Machine, broken_everywhere
from runner.config.text import escaped
from runner.errors import RunError, TourneyError, UsageError
from runner.process.temporary import temp_prefix
from runner.run.cores import available
from runner.run.executor import raise_if_broken
from runner.run.wire import Check, Checked, Spoilt, read_outcome, task_frame

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import AsyncIterator
    from queue import SimpleQueue

    from runner.cluster.luggage import Luggage
    from runner.run.wire import Outcome, Task

__all__ = ["LOCAL", "Engine"]

LOCAL = "local"
"""Instead of an address: a cluster of its own, on this machine."""

_PATIENCE = 30.0
"""Seconds to wait for the scheduler, and for a worker that can play."""
_LOST = 60.0
"""Seconds of silence after which a scheduler is lost."""
_LOOK = 0.5
"""Seconds between two looks at who is there."""
_TICK = 0.05
_LEAVING = 8.0
_PIECE = 8 << 20
"""Bytes of an archive that are sent at a time."""
_TRIES = 3
"""A task that has failed so often is not tried again."""
_RESOURCE = "match"
"""The resource by which a Dask worker can be held to fewer matches than it has threads."""


class _FailedError(Exception):
    """A task was not done; it may be tried again."""


class Engine:
    """Runs tasks on a cluster until it is told to stop.

    Args:
        address: The scheduler's, or `LOCAL`.
        luggage: What every worker needs.
        jobs: With `LOCAL`: how many workers; None for one a core.
        inbox: Where outcomes go, and at last the error that ended this, if one did.
        news: Where lines for the user go.
    """

    def __init__(
        self,
        address: str,
        luggage: Luggage,
        jobs: int | None,
        inbox: SimpleQueue[Outcome | Exception],
        news: deque[str],
    ) -> None:
        self._address = address
        self._luggage = luggage
        self._jobs = jobs
        self._inbox = inbox
        self._news = news
        self._tasks: asyncio.Queue[Task] = asyncio.Queue()
        self._failures: Counter[int] = Counter()
        self._machines: dict[str, Machine] = {}
        self._employed: dict[str, tuple[Machine, asyncio.Task[None]]] = {}
        self._refused: dict[str, str] = {}
        self._starts: dict[int, Checked] | None = None
        self._politely = False
        self._client: Any = None
        self.slots = 0
        """Matches that can be played at a time, now."""

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            UsageError: There is no cluster that can play.
            RunError: It was lost, or a task cannot be done.
        """
        async with AsyncExitStack() as stack:
            self._client = await self._connected(stack)
            stack.push_async_callback(self._leave)
            self._client.subscribe_topic(host.topic(self._luggage.run), self._hear)
            async with _flat(), asyncio.TaskGroup() as group:
                await self._watch(group)

    def submit(self, task: Task) -> None:
        """Take a task; called in the thread of this."""
        self._tasks.put_nowait(task)

    def be_polite(self) -> None:
        """When this is cancelled, the workers and bots get time to end."""
        self._politely = True

    async def _connected(self, stack: AsyncExitStack) -> Any:
        where: Any = self._address
        if where == LOCAL:
            scratch = tempfile.TemporaryDirectory(
                prefix=temp_prefix("run"), ignore_cleanup_errors=True
            )
            stack.enter_context(dask.config.set(temporary_directory=stack.enter_context(scratch)))
            where = await stack.enter_async_context(
                LocalCluster(
                    n_workers=self._jobs or available(),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None takes a fixed port all the same
                    silence_logs=logging.CRITICAL,
                    asynchronous=True,
                )
            )
        try:
            client = Client(where, asynchronous=True, timeout=_PATIENCE, set_as_default=False)
            stack.push_async_exit(client)  # it has to be closed though it may not connect
            await client
            version = await client.run_on_scheduler(host.about)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {self._address} ({error}); start one with `dask"
                " scheduler`, and give the address that it shows"
            ) from error
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the Dask scheduler {_lacks_tourney()}") from error
        if version != __version__:
            raise UsageError(f"the Dask scheduler {_other_version(version)}")
        return client

    async def _watch(self, group: asyncio.TaskGroup) -> NoReturn:
        """See who comes and who goes, as long as this runs."""
        alone_since = renewed = time.monotonic()
        while True:
            there = await self._workers()
            for address in self._employed.keys() - there.keys():
                self._dismiss(address)
            for address, details in there.items():
                self._employ(group, address, details)
            now = time.monotonic()
            if any(not work.done() for _, work in self._employed.values()):
                alone_since = now
            self._complain(len(there), now - alone_since)
            if now - renewed > host.LEASE / 6:
                renewed = now
                await self._client.run(host.renew, self._luggage.run, on_error="ignore")
            await asyncio.sleep(_LOOK)

    async def _workers(self) -> dict[str, dict[str, Any]]:
        """The Dask workers that there are, by address."""
        asked = asyncio.ensure_future(self._client.scheduler.identity(n_workers=-1))
        since = time.monotonic()
        while not asked.done() and self._is_connected and time.monotonic() - since < _LOST:
            await asyncio.wait({asked}, timeout=_LOOK)
        if not asked.done() or asked.exception() is not None:
            asked.cancel()
            raise RunError(
                f"the Dask scheduler at {self._address} is lost. What was stored before is safe;"
                " run the same command again to continue."
            )
        workers: dict[str, dict[str, Any]] = asked.result()["workers"]
        return {
            address: details
            for address, details in workers.items()
            if details["status"] in {"running", "paused"}
        }

    @property
    def _is_connected(self) -> bool:
        """Whether the scheduler is there; one that was started anew would know nothing of us."""
        return bool(self._client.status == "running")

    def _complain(self, there: int, alone: float) -> None:
        """Give up if nobody is left who could play."""
        reasons = "".join(f"\n{line}" for line in self._refused.values())
        if there and len(self._refused) == there and not self._may_play():
            raise self._ending(f"no Dask worker at {self._address} can play here:{reasons}")
        if alone > _PATIENCE:
            raise self._ending(
                f"no Dask worker has come to {self._address} in {_PATIENCE:g} s; start some with"
                f" `dask worker {self._address} --nworkers auto --nthreads 1`{reasons}"
            )

    def _may_play(self) -> bool:
        return any(not work.done() for _, work in self._employed.values())

    def _ending(self, message: str) -> TourneyError:
        if self._starts is None:
            return UsageError(f"{message}\nNothing was played.")
        return RunError(
            f"{message}\nWhat was stored before is safe; run the same command again to continue."
        )

    def _employ(self, group: asyncio.TaskGroup, address: str, details: dict[str, Any]) -> None:
        """Take a worker on, unless it is known; one that has forgotten us is taken on again."""
        known = self._employed.get(address)
        if address in self._refused or (known is not None and not known[1].done()):
            return
        machine = self._machines.setdefault(details["host"], Machine(details["host"]))
        work = group.create_task(self._work(address, machine, details))
        self._employed[address] = machine, work

    def _dismiss(self, address: str) -> None:
        _, work = self._employed.pop(address)
        work.cancel()
        if self._refused.pop(address, None) is None:
            self._news.append(f"the Dask worker {address} is gone; what it was at is played again")

    def _refuse(self, address: str, reason: str) -> None:
        line = f"the Dask worker {address} {reason}"
        self._refused[address] = line
        self._news.append(f"{line}; it plays nothing")

    async def _work(self, address: str, machine: Machine, details: dict[str, Any]) -> None:
        """All dealings with one Dask worker, until it goes."""
        reason = await self._greet(address, machine)
        if reason is not None:
            self._refuse(address, reason)
            return
        resources = details["resources"] or {}
        places = min(details["nthreads"], int(resources.get(_RESOURCE, details["nthreads"])))
        needed = {_RESOURCE: 1.0} if _RESOURCE in resources else None
        with suppress(StrangerError):  # then it is taken on again
            async with _flat(), asyncio.TaskGroup() as group:
                for _ in range(places):
                    group.create_task(self._serve(address, machine, needed))

    async def _greet(self, address: str, machine: Machine) -> str | None:
        """Make a worker ready; gives why it cannot be."""
        run = self._luggage.run
        try:
            version = await self._call(address, host.about)
        except (ImportError, AttributeError):
            return _lacks_tourney()
        except OSError as error:
            return f"cannot be reached: {escaped(str(error), 500)}"
        if version != __version__:
            return _other_version(version)
        try:
            async with machine.lock:
                for key in await self._call(address, host.enter, self._luggage):
                    await self._send(address, key)
                broken = await self._call(address, host.stage, run)
                machine.begin(self._luggage.parcels, broken)
        except (TourneyError, OSError) as error:
            return f"cannot be made ready: {escaped(str(error), 500)}"
        return None

    async def _send(self, address: str, key: str) -> None:
        """Send an archive, piece by piece."""
        run, parcels = self._luggage.run, self._luggage.parcels.values()
        folder = next(one.folder for one in parcels if one.archive == key and one.folder)
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(pack, folder, file)
            size = file.tell()
            file.seek(0)
            while piece := file.read(_PIECE):
                last = file.tell() == size
                await self._call(address, host.receive, run, key, piece, last=last)

    async def _call(self, address: str, function: Any, *words: Any, **options: Any) -> Any:
        """Call a function on one worker, beside its tasks."""
        answers = await self._client.run(
            function, *words, workers=[address], on_error="return", **options
        )
        answer = answers[address]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def _serve(self, address: str, machine: Machine, needed: dict[str, float] | None) -> None:
        """Do one task at a time, as long as this worker may."""
        self.slots += 1
        try:
            await self._start_bots(address, machine, needed)
            while address not in self._refused:
                await self._do(address, await self._tasks.get(), needed)
        finally:
            self.slots -= 1

    async def _start_bots(
        self, address: str, machine: Machine, needed: dict[str, float] | None
    ) -> None:
        """Help to start each bot once on this machine, and see whether it is fit to play."""
        while self._starts is None or not machine.is_checked:
            check = machine.next_check()
            if check is None:
                self._decide()
                await asyncio.sleep(_TICK)
                continue
            try:
                machine.checked[check.entrant] = await self._check(address, check, needed)
            except BaseException:
                machine.unchecked.appendleft(check.entrant)
                raise
        start_nowhere = {at for at, start in self._starts.items() if start.ready is None}
        if machine.broken - start_nowhere and address not in self._refused:
            self._refuse(address, self._why_unfit(machine))

    def _decide(self) -> None:
        """Once all bots were started on all machines that are there: who starts at all?"""
        machines = [machine for machine, work in self._employed.values() if not work.done()]
        if self._starts is None and all(machine.is_checked for machine in machines):
            best = min(machines, key=lambda machine: len(machine.broken))
            everywhere = broken_everywhere(machines)
            self._starts = {
                entrant: next(
                    machine.checked[entrant]
                    for machine in (best, *machines)
                    if (machine.checked[entrant].ready is None) == (entrant in everywhere)
                )
                for entrant in self._luggage.parcels
            }

    def _why_unfit(self, machine: Machine) -> str:
        entrant = min(machine.broken)
        name = self._luggage.parcels[entrant].bot.name
        cause = escaped(machine.checked[entrant].cause, 500)
        return f"is on a machine where the bot {name!r} does not start ({cause})"

    async def _check(self, address: str, check: Check, needed: dict[str, float] | None) -> Checked:
        for _ in range(_TRIES):
            with suppress(_FailedError):
                outcome = await self._ask(address, check, needed)
                if isinstance(outcome, Checked):
                    return outcome
                _raise_unless_done(outcome)
        return Checked(0, check.entrant, None, "the worker program ended while it was started")

    async def _do(self, address: str, task: Task, needed: dict[str, float] | None) -> None:
        """Have a task done, or see to it that it will be done again."""
        if isinstance(task, Check):
            known = (self._starts or {})[task.entrant]
            self._inbox.put(msgspec.structs.replace(known, number=task.number))
            return
        try:
            outcome = await self._ask(address, task, needed)
            _raise_unless_done(outcome)
        except _FailedError as error:
            self._failures[task.number] += 1
            if self._failures[task.number] >= _TRIES:
                raise RunError(
                    f"the same matches fail again and again, at last on the Dask worker {address}"
                    f" ({escaped(str(error), 500)}). No bot is blamed, and what was stored before"
                    " is safe. Is that machine out of memory, or too busy? Run the same command"
                    " again to continue."
                ) from error
            self._tasks.put_nowait(task)
            await asyncio.sleep(_LOOK)
        except BaseException:
            self._tasks.put_nowait(task)
            raise
        else:
            self._failures.pop(task.number, None)
            self._inbox.put(outcome)

    async def _ask(self, address: str, task: Task, needed: dict[str, float] | None) -> Outcome:
        """One task on one worker."""
        future = self._client.submit(
            host.play,
            self._luggage.run,
            task_frame(task),
            key=f"tourney-{self._luggage.run}-{uuid4().hex}",
            workers=[address],
            allow_other_workers=False,
            resources=needed,
            pure=False,
        )
        try:
            return read_outcome(await future)
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise _FailedError(str(error)) from error  # Dask has forgotten the task
        except (StrangerError, msgspec.DecodeError):
            raise
        except Exception as error:
            raise _FailedError(str(error)) from error
        finally:
            future.release()

    def _hear(self, event: tuple[float, bytes | str]) -> None:
        """A worker waits for a bot, or has news."""
        _, said = event
        if isinstance(said, str):
            self._news.append(said)
            return
        with suppress(msgspec.DecodeError):
            self._inbox.put(read_outcome(said))

    async def _leave(self) -> None:
        """End what there is on the cluster, as far as it can be reached."""
        run = self._luggage.run
        if not self._is_connected:  # then the workers see to it themselves
            return
        with suppress(OSError, TimeoutError):
            leaving = self._client.run(host.leave, run, politely=self._politely, on_error="ignore")
            await asyncio.wait_for(leaving, _LEAVING)


def _lacks_tourney() -> str:
    return f"has no tourney {__version__}; install tourney-runner[dask]=={__version__} there"


def _other_version(version: str) -> str:
    return f"has tourney {version}, this is {__version__}; install the same version there"


def _raise_unless_done(outcome: Outcome) -> None:
    raise_if_broken(outcome)
    if isinstance(outcome, Spoilt):
        raise _FailedError(f"the machine spoils deals: {outcome.cause}")


@asynccontextmanager
async def _flat() -> AsyncIterator[None]:
    """The first error of a group itself; what else failed at the same moment follows from it."""
    try:
        yield
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
