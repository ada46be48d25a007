"""The session with one Dask worker: it is prepared, tried out, and given tasks.

Each task is sent to a worker that is ready, and to another one if that worker leaves. Dask's own
scheduling does not know which workers have the bots.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import msgspec

from tourney_runner import __version__
from tourney_runner.cluster import worker_plugin
from tourney_runner.cluster.run_bundle import pack
from tourney_runner.cluster.tasks import TRIES, Failures
from tourney_runner.cluster.worker_pool import ProgramError, UnknownRunError
from tourney_runner.errors import RunError, TourneyError
from tourney_runner.run.executor import raise_if_broken
from tourney_runner.run.watchdog import Silence, describe_task
from tourney_runner.run.worker_process import Check, HostFailed, read_outcome, task_frame
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import AsyncIterator, Callable
    from queue import SimpleQueue

    from tourney_runner.cluster.machines import Machine, Machines
    from tourney_runner.cluster.run_bundle import RunBundle
    from tourney_runner.cluster.tasks import TaskQueue
    from tourney_runner.run.worker_process import Checked, Outcome, Task

__all__ = [
    "BadMachineError",
    "Shared",
    "UnusableWorkerError",
    "WorkerSession",
    "first_error",
    "lacks_tourney",
    "other_version",
]

_TICK = 0.05
_PAUSE = 0.5
"""Seconds that a worker pauses after a failure, so that another one takes the task."""
_LISTEN = 1.0
"""Seconds between two checks of a worker that does not answer."""
_PIECE = 8 << 20
"""The number of bytes of an archive that are sent at a time."""
_RESOURCE = "match"
"""The Dask resource that limits a worker to fewer matches than it has threads."""


class UnusableWorkerError(Exception):
    """A Dask worker cannot play in this run; the message is read after its name."""


class BadMachineError(UnusableWorkerError):
    """A Dask worker cannot play because of its machine, which can be repaired at any time."""


class _FailedError(Exception):
    """A task was not done; it may be tried again."""


class UnresponsiveError(Exception):
    """A Dask worker no longer answers."""


@dataclass(frozen=True)
class Shared:
    """The data that all sessions of a run share."""

    client: Any
    bundle: RunBundle
    queue: TaskQueue
    machines: Machines
    inbox: SimpleQueue[Outcome | Exception]
    """The queue of outcomes."""
    news: deque[str]
    """Lines for the user."""
    scheduler_is_slow: Callable[[], bool]
    """True if the scheduler, through which all messages go, does not answer."""
    failures: Failures = field(default_factory=Failures)


class WorkerSession:
    """The session with one Dask worker.

    Args:
        address: The worker's address.
        details: The scheduler's description of it.
        shared: The data of the run.
    """

    def __init__(self, address: str, details: dict[str, Any], shared: Shared) -> None:
        self._address = address
        self._shared = shared
        self._run = shared.bundle.run
        self._machine: Machine = shared.machines.on(details["host"])
        resources = details["resources"] or {}
        self._places = min(details["nthreads"], int(resources.get(_RESOURCE, details["nthreads"])))
        self._needed = {_RESOURCE: 1.0} if _RESOURCE in resources else None
        self.is_unresponsive = False
        """True if it no longer answers."""

    async def work(self) -> None:
        """Let it play until it forgets the run, or answers again after a time without answers.

        Raises:
            UnusableWorkerError: It cannot.
            RunError: No worker can do a task.
        """
        try:
            self._machine.members += 1
            try:
                await self._take_part()
            finally:
                self._machine.members -= 1
        except UnknownRunError:
            pass
        except UnresponsiveError:
            self.is_unresponsive = True
            await self._until_it_answers()

    async def _take_part(self) -> None:
        async with first_error(), asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            await self._prepare()
            await self._try_out()
            for _ in range(self._places):
                group.create_task(self._serve())

    async def _listen(self) -> None:
        """Renew the run's lease at the worker, and check that it answers.

        Raises:
            UnresponsiveError: It has been silent for as long as ends a worker program.
        """
        silence = Silence()
        silence.restart(time.monotonic())
        while True:
            answer = asyncio.ensure_future(self._call(worker_plugin.renew, self._run))
            try:
                while not answer.done():
                    await asyncio.wait({answer}, timeout=_LISTEN)
                    self._look(silence)
            finally:
                answer.cancel()
            if isinstance(answer.exception(), UnresponsiveError):
                await asyncio.sleep(_LISTEN)
            else:
                await asyncio.sleep(worker_plugin.LEASE / 12)
                silence.restart(time.monotonic())

    def _look(self, silence: Silence) -> None:
        if self._shared.scheduler_is_slow():
            silence.restart(time.monotonic())
        report = silence.check(time.monotonic())
        if report.due:
            end = "; its matches are played again" if report.lost else ""
            self._shared.news.append(
                f"the Dask worker {self._address} has not answered for {report.seconds:.0f} s{end}"
            )
        if report.lost:
            raise UnresponsiveError

    async def _until_it_answers(self) -> None:
        while True:
            try:
                await self._version()
            except UnresponsiveError:
                await asyncio.sleep(_LISTEN)
            except UnusableWorkerError:  # the next session reports it
                return
            else:
                return

    async def _version(self) -> str:
        try:
            return str(await self._call(worker_plugin.about))
        except UnresponsiveError:
            raise
        except Exception as error:  # an ImportError, which the scheduler passes on as text
            raise UnusableWorkerError(lacks_tourney()) from error

    async def _prepare(self) -> None:
        """Check the worker's version, and send and stage all bots."""
        if not self._places:
            raise UnusableWorkerError(
                f"may play no match, because its resource {_RESOURCE!r} is below 1"
            )
        try:
            if (version := await self._version()) != __version__:
                raise UnusableWorkerError(other_version(version))
            async with self._machine.lock:
                for key in await self._call(worker_plugin.enter, self._shared.bundle):
                    await self._send(key)
                broken = await self._call(worker_plugin.stage, self._run)
                self._machine.begin(self._shared.bundle.bots, broken)
        except TourneyError as error:
            raise UnusableWorkerError(
                f"cannot be made ready: {escaped(str(error), 500)}"
            ) from error
        except worker_plugin.HostError as error:
            raise BadMachineError(f"cannot be made ready: {escaped(str(error), 500)}") from error

    async def _send(self, key: str) -> None:
        """Send an archive, piece by piece."""
        bots = self._shared.bundle.bots.values()
        folder, is_copy = next(
            (one.folder, one.entrant is None) for one in bots if one.archive == key and one.folder
        )
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(pack, folder, file, staged=is_copy)
            size = file.tell()
            file.seek(0)
            while piece := file.read(_PIECE):
                last = file.tell() == size
                await self._call(worker_plugin.receive, self._run, key, piece, last=last)

    async def _call(self, function: Any, *words: Any, **options: Any) -> Any:
        """Call a function on the worker, independent of its tasks.

        Raises:
            UnresponsiveError: It cannot be reached. The called functions raise no OSError.
        """
        try:
            answers = await self._shared.client.run(
                function, *words, workers=[self._address], on_error="return", **options
            )
            answer = answers[self._address]
            if isinstance(answer, BaseException):
                raise answer
        except OSError as error:
            raise UnresponsiveError from error
        return answer

    async def _try_out(self) -> None:
        """Check that worker programs work there, so that no bot and no match is blamed for them.

        Raises:
            BadMachineError: They do not work.
        """
        for left in reversed(range(TRIES)):
            try:
                await self._call(worker_plugin.try_out, self._run)
            except ProgramError as error:
                if not left:
                    raise BadMachineError(
                        f"cannot play, because {escaped(str(error), 500)}"
                    ) from error
            else:
                return

    async def _serve(self) -> None:
        """Do tasks one after the other."""
        with self._shared.queue.place() as lane:
            await self._start_bots()
            failed = 0
            while True:
                task = await self._shared.queue.take(lane)
                failed = 0 if await self._do(task, failed) else failed + 1

    async def _start_bots(self) -> None:
        """Take part in starting each bot once on this machine, and check the result."""
        machine, machines = self._machine, self._shared.machines
        while machines.starts is None or not machine.is_checked:
            check = machine.next_check()
            if check is None:
                machines.decide()
                await asyncio.sleep(_TICK)
                continue
            try:
                machine.checked[check.entrant] = await self._check(check)
            except BaseException:
                machine.unchecked.appendleft(check.entrant)
                raise
        odd = machines.odd_one(machine)
        if odd is not None:
            name = self._shared.bundle.bots[odd.entrant].bot.name
            cause = escaped(odd.cause, 500)
            raise UnusableWorkerError(
                f"is on a machine where the bot {name!r} does not start ({cause})"
            )

    async def _check(self, check: Check) -> Checked:
        failed = 0
        while True:
            try:
                return cast("Checked", await self._ask(check))
            except _FailedError as error:
                await self._try_out()
                failed += 1
                if failed == TRIES:
                    raise self._failing(check, error) from error

    async def _do(self, task: Task, failed: int) -> bool:
        """Do a task, or put it back; return whether it is done.

        Args:
            task: The task.
            failed: The number of failed tasks in a row before it.
        """
        if isinstance(task, Check):
            known = (self._shared.machines.starts or {})[task.entrant]
            self._shared.inbox.put(msgspec.structs.replace(known, number=task.number))
            return True
        try:
            outcome = await self._ask(task)
        except _FailedError as error:
            await self._leave_to_others(task, error, failed + 1)
            return False
        except BaseException:
            self._shared.queue.put(task)
            raise
        self._shared.failures.forget(task.number)
        self._shared.inbox.put(outcome)
        return True

    async def _leave_to_others(self, task: Task, error: _FailedError, in_a_row: int) -> None:
        """Put back a failed task, and decide whether this worker or the task is to blame.

        Raises:
            BadMachineError: This worker is to blame.
            RunError: All workers fail at the task.
        """
        failures, machines = self._shared.failures, self._shared.machines
        try:
            await self._try_out()
            here = failures.add(task.number, self._machine.address, self._address)
            if max(in_a_row, here) >= TRIES:
                raise self._failing(task, error)
            if failures.show_bad_task(task.number, machines=len(machines.there)):
                raise RunError(
                    f"Dask workers fail again and again while {self._describe(task)}, at last"
                    f" {self._address} ({escaped(str(error), 500)}). No bot is blamed, and what was"
                    " stored before is safe. Run the same command again to continue."
                ) from error
        finally:
            self._shared.queue.put(task)
        await asyncio.sleep(_PAUSE)

    def _failing(self, task: Task, error: _FailedError) -> BadMachineError:
        return BadMachineError(
            f"fails again and again while {self._describe(task)} ({escaped(str(error), 500)})"
        )

    def _describe(self, task: Task) -> str:
        return describe_task(task, self._shared.bundle.names)

    async def _ask(self, task: Task) -> Outcome:
        """Return the outcome of a task.

        Raises:
            _FailedError: It was not done.
            UnknownRunError: The worker forgot the run.
            RunError: There is a bug in the worker program.
        """
        future = self._shared.client.submit(
            worker_plugin.play,
            self._run,
            task_frame(task),
            key=f"tourney-{self._run}-{uuid4().hex}",
            workers=[self._address],
            allow_other_workers=False,
            resources=self._needed,
            pure=False,
        )
        try:
            outcome = read_outcome(await future)
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise _FailedError(str(error)) from error  # Dask has forgotten the task
        except (UnknownRunError, msgspec.DecodeError):
            raise
        except Exception as error:
            raise _FailedError(str(error)) from error
        finally:
            future.release()
        raise_if_broken(outcome)
        if isinstance(outcome, HostFailed):
            raise _FailedError(f"void, the host failed: {outcome.cause}")
        return outcome


def lacks_tourney() -> str:
    """Return the message, after a name, that this program is not installed there."""
    return f"has no tourney {__version__}; install the same version there, with its extra dask"


def other_version(version: str) -> str:
    """Return the message, after a name, that another version is installed there."""
    return f"has tourney {version}, this is {__version__}; install the same version there"


@asynccontextmanager
async def first_error() -> AsyncIterator[None]:
    """Raise the first error of a group itself; the others follow from it."""
    try:
        yield
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
