"""What happens inside a Dask worker: bots are made ready, and tasks are handed to worker programs.

A Dask worker does as many tasks at a time as it has threads; each has a worker program of its
own, the very one that plays on a single machine. Programs are kept from task to task. They are
started from a thread that lives as long as the run, since the system ends them with the thread
that started them: whatever becomes of the Dask worker, no bot outlives it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from distributed import WorkerPlugin, get_worker

from runner import __version__
from runner.bots.cache import cache_folder
from runner.cluster.archive import is_unpacked, unpack, unpacked_folder
from runner.games.registry import game
from runner.process.sandbox import choose
from runner.process.sweep import end_left_by
from runner.process.temporary import make_temp, remove_tree
from runner.run.cores import claim
from runner.run.doing import doing
from runner.run.prepare import specs
from runner.run.program import WorkerProgram
from runner.run.readiness import stage_all
from runner.run.silence import Silence
from runner.run.wire import Alive, Waiting, outcome_frame, read_task

if TYPE_CHECKING:
    from runner.bots import Bot
    from runner.cluster.luggage import Luggage
    from runner.config.models import Entrant
    from runner.run.cores import Core
    from runner.run.wire import Setup, Task

__all__ = [
    "LEASE",
    "ProgramEndedError",
    "StrangerError",
    "about",
    "enter",
    "leave",
    "play",
    "receive",
    "renew",
    "stage",
    "topic",
]

LEASE = 60.0
"""Seconds after which a run that is not heard of any more is over here."""
_POLITE = 5.0
_PROMPT = 1.0
"""Seconds that worker programs get to end, when all is done and when interrupted."""
_OTHER_FILES = (
    "it is not the same on this host: a file that its command names by an absolute path differs,"
    " or its folder changed while it was sent"
)
_LOOK = 1.0
"""Seconds between two looks at a program that says nothing."""
_HEADER = 4
"""Bytes before the body of a frame."""


class ProgramEndedError(Exception):
    """A worker program ended in the middle of a task."""


class StrangerError(Exception):
    """This Dask worker knows nothing of the run: it was started again, or gave up waiting."""


def topic(run: str) -> str:
    """Where a run's Dask workers tell which bots they wait for, as frames, and news, as text."""
    return f"tourney-{run}"


def about() -> str:
    """The version of this program here."""
    return __version__


async def enter(luggage: Luggage, dask_worker: Any) -> list[str]:
    """Begin a run on this Dask worker.

    Returns:
        The keys of the archives that are missing here.

    Raises:
        UsageError: This host does not have the game.
        OSError: The cache cannot be used.
    """
    game(luggage.setup.settings.game)
    await dask_worker.plugin_add(_Host(luggage), name=topic(luggage.run))
    keys = {one.archive for one in luggage.parcels.values() if one.archive is not None}
    cache = cache_folder()
    return [key for key in sorted(keys) if not await asyncio.to_thread(is_unpacked, cache, key)]


async def receive(run: str, key: str, piece: bytes, *, last: bool, dask_worker: Any) -> None:
    """Take a piece of an archive, and unpack the archive after the last.

    Raises:
        UsageError: The archive does not hold what its key says.
        OSError: The cache cannot be written.
    """
    await asyncio.to_thread(_host(dask_worker, run).receive, key, piece, last=last)


async def stage(run: str, dask_worker: Any) -> dict[int, str]:
    """Make all bots ready; gives why some are not, by number."""
    return await asyncio.to_thread(_host(dask_worker, run).stage)


async def renew(run: str, dask_worker: Any) -> None:
    """The run goes on."""
    _host(dask_worker, run).renew()


async def leave(run: str, *, politely: bool, dask_worker: Any) -> None:
    """The run is over here: end all that it started."""
    host = dask_worker.plugins.get(topic(run))
    if host is not None:
        await host.end(politely=politely)
        await dask_worker.plugin_remove(topic(run))


def play(run: str, frame: bytes) -> bytes:
    """Have a task done, as a task of Dask.

    Args:
        run: The run.
        frame: The task, as `runner.run.wire` writes it.

    Returns:
        The body of the outcome's frame.

    Raises:
        StrangerError: The run is not known here.
        ProgramEndedError: The worker program died.
    """
    return _host(get_worker(), run).play(frame)


def _host(dask_worker: Any, run: str) -> _Host:
    host = dask_worker.plugins.get(topic(run))
    if not isinstance(host, _Host):
        raise StrangerError(run)
    return host


class _Host(WorkerPlugin):  # type: ignore[misc] # distributed is not looked into
    """One run on one Dask worker; ended with it by Dask, or by itself when the run is lost."""

    def __init__(self, luggage: Luggage) -> None:
        self._luggage = luggage
        self._cache = cache_folder()
        self._temp = make_temp("run")
        self._setup: Setup | None = None
        self._lock = threading.Lock()
        self._idle: list[WorkerProgram] = []
        self._all: dict[WorkerProgram, Core | None] = {}
        self._over = False
        self._starter = ThreadPoolExecutor(1, "tourney-starter")
        self._heard = asyncio.Event()
        self._worker: Any = None
        self._watching: asyncio.Task[None] | None = None

    def setup(self, worker: Any) -> None:
        """Called by Dask, in the loop of the worker."""
        self._worker = worker
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def teardown(self, worker: Any) -> None:  # noqa: ARG002 - Dask's signature
        """Called by Dask when the worker or the run ends."""
        await self.end(politely=False)

    def renew(self) -> None:
        """The run was heard of."""
        self._heard.set()

    def receive(self, key: str, piece: bytes, *, last: bool) -> None:
        """See the function of that name."""
        path = self._temp / f"{key}.tar"
        with path.open("ab") as file:
            file.write(piece)
        if last:
            with path.open("rb") as file:
                unpack(self._cache, key, file)
            path.unlink()

    def stage(self) -> dict[int, str]:
        """See the function of that name."""
        ready: list[Bot] = []
        entrants: list[Entrant] = []
        for parcel in self._luggage.parcels.values():
            key = parcel.archive
            folder = unpacked_folder(self._cache, key) if key is not None else None
            if parcel.entrant is not None:
                entrants.append(parcel.entrant.model_copy(update={"folder": folder}))
            elif folder is not None:
                ready.append(parcel.moved(folder))
        setup = self._luggage.setup
        staged, reasons = stage_all(
            entrants,
            launcher=choose(setup.sandbox, trusted=True),
            build_network=setup.build_network,
            alone=False,  # this process may be a host to other runs
        )
        numbers = {entrant.name: entrant.number for entrant in entrants}
        broken = {numbers[name]: reason for name, reason in reasons.items()}
        broken |= {bot.number: _OTHER_FILES for bot in staged if not self._is_same(bot)}
        whole = [bot for bot in (*ready, *staged) if bot.number not in broken]
        self._setup = msgspec.structs.replace(setup, bots=specs(whole), temp=str(self._temp))
        return broken

    def _is_same(self, bot: Bot) -> bool:
        return bot.hash == self._luggage.parcels[bot.number].bot.hash

    def play(self, frame: bytes) -> bytes:
        """See the function of that name."""
        program = self._take()
        try:
            program.write(frame)
            outcome = self._outcome(program, read_task(frame[_HEADER:]))
        except BaseException:
            self._dismiss(program)
            raise
        with self._lock:
            self._idle.append(program)
        return outcome

    async def end(self, *, politely: bool) -> None:
        """End all worker programs, and leave nothing."""
        with self._lock:
            first, self._over = not self._over, True
        if first:
            if self._watching is not None and self._watching is not asyncio.current_task():
                self._watching.cancel()
            await asyncio.to_thread(self._end, _POLITE if politely else _PROMPT, politely=politely)

    def _end(self, seconds: float, *, politely: bool) -> None:
        """End programs within so many seconds; busy ones are collected by who waits for them."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = self._all.keys() - idle
        for program in idle:
            program.finish() if politely else program.stop()
        for program in busy:
            program.stop()
        until = time.monotonic() + seconds
        for program in idle:
            program.end(until - time.monotonic())
            self._release(program)
        while self._all and time.monotonic() < until:
            time.sleep(0.02)
        for program in list(self._all):
            program.kill()
        self._starter.shutdown(wait=False)
        remove_tree(self._temp)

    async def _watch(self) -> None:
        """End by ourselves when the runner was killed, or cannot be reached."""
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self._heard.wait(), LEASE)
                self._heard.clear()
        await self.end(politely=False)
        self._worker.plugins.pop(topic(self._luggage.run), None)

    def _take(self) -> WorkerProgram:
        """An idle worker program, or a new one."""
        with self._lock:
            if self._over or self._setup is None:
                raise StrangerError(self._luggage.run)
            if self._idle:
                return self._idle.pop()
            setup = self._setup
        cores = claim(1) if self._luggage.pin else []
        core = cores[0] if cores else None
        setup = msgspec.structs.replace(setup, cpu=core and core.number)
        try:
            program = self._starter.submit(WorkerProgram, setup).result()
        except BaseException:
            for taken in cores:
                taken.release()
            raise
        with self._lock:
            self._all[program] = core
            over = self._over
        if over:
            self._dismiss(program)
            raise StrangerError(self._luggage.run)
        return program

    def _outcome(self, program: WorkerProgram, task: Task) -> bytes:
        """Read until the task is done; tells meanwhile of bots waited for, and of silence."""
        silence = Silence()
        silence.broken(time.monotonic())
        while True:
            if not program.has_spoken(_LOOK):
                self._look(program, silence, task)
                continue
            outcomes = program.read()
            if outcomes is None:
                raise ProgramEndedError("a worker program ended")
            silence.broken(time.monotonic())
            for outcome in outcomes:
                if isinstance(outcome, Alive):
                    continue
                frame = outcome_frame(outcome)[_HEADER:]
                if not isinstance(outcome, Waiting):
                    return frame
                self._tell(frame)

    def _look(self, program: WorkerProgram, silence: Silence, task: Task) -> None:
        """Tell of a program that is stopped or stuck, and end it if it stays so."""
        sight = silence.look(time.monotonic())
        if sight.tell:
            names = {at: parcel.bot.name for at, parcel in self._luggage.parcels.items()}
            who = f"worker {program.pid} of the Dask worker {self._worker.address}"
            self._tell(sight.line(who, doing(task, names)))
        if sight.lost:
            program.kill()  # which is seen at the next reading

    def _tell(self, news: bytes | str) -> None:
        """Let the runner hear of something, if it can be reached."""
        with suppress(OSError):
            self._worker.log_event(topic(self._luggage.run), news)

    def _dismiss(self, program: WorkerProgram) -> None:
        program.stop()
        program.end(_PROMPT)
        self._release(program)

    def _release(self, program: WorkerProgram) -> None:
        """Forget a program that has ended, and end what it left if it was killed."""
        with self._lock:
            alive = {other.pid for other in self._all}
        end_left_by(program.pid, alive)
        with self._lock:
            core = self._all.pop(program, None)
        if core is not None:
            core.release()
