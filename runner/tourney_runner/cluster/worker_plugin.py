"""Code that runs inside a Dask worker: it stages bots and passes tasks to worker programs.

A Dask worker does one task per thread at a time; each thread has a worker program of its own, the
same program that plays on a single machine.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec
from distributed import WorkerPlugin, get_worker

from tourney_runner import __version__
from tourney_runner.bots.cache import cache_folder
from tourney_runner.bots.staging import stage_all
from tourney_runner.cluster.run_bundle import is_unpacked, unpack, unpacked_folder
from tourney_runner.cluster.worker_pool import UnknownRunError, WorkerPool
from tourney_runner.games.registry import game
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.process.process_tree import end_started
from tourney_runner.process.sandbox import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.cluster.run_bundle import RunBundle
    from tourney_runner.config.models import Entrant
    from tourney_runner.play.bot import Bot

__all__ = [
    "LEASE",
    "HostError",
    "about",
    "enter",
    "leave",
    "play",
    "receive",
    "renew",
    "stage",
    "topic",
    "try_out",
]

LEASE = 60.0
"""Seconds without a sign of the run after which it is over here."""
_POLITE = 5.0
_PROMPT = 1.0
"""Seconds that worker programs get to end, after the last task and after an interruption."""
_BUILDS_LOOK = 0.05
"""Seconds between two attempts to end builds."""
_OTHER_FILES = (
    "it is not the same on this host: a file that its command names by an absolute path differs,"
    " or its folder changed while it was sent"
)


_one_builds = threading.Lock()
"""A lock of the run that builds bots in this process, so that all builds here are its own."""


class HostError(Exception):
    """This host cannot keep the files of a run; the message is the reason."""


def topic(run: str) -> str:
    """Return the topic on which a run's Dask workers report: frames for outcomes, text for news."""
    return f"tourney-{run}"


def about() -> str:
    """Return the version of this program here."""
    return __version__


async def enter(bundle: RunBundle, dask_worker: Any) -> list[str]:
    """Begin a run on this Dask worker.

    Returns:
        The keys of the archives that are missing here.

    Raises:
        UsageError: The game is not installed on this host.
        HostError: The cache or the folder for temporary files cannot be used.
    """
    game(bundle.setup.settings.game)
    with _host_errors():
        await dask_worker.plugin_add(_RunPlugin(bundle), name=topic(bundle.run))
        keys = {one.archive for one in bundle.bots.values() if one.archive is not None}
        cache = cache_folder()
        return [key for key in sorted(keys) if not await asyncio.to_thread(is_unpacked, cache, key)]


async def receive(run: str, key: str, piece: bytes, *, last: bool, dask_worker: Any) -> None:
    """Take a piece of an archive, and unpack the archive after the last.

    Raises:
        UsageError: The contents of the archive do not match its key.
        HostError: They cannot be written.
    """
    with _host_errors():
        await asyncio.to_thread(_host(dask_worker, run).receive, key, piece, last=last)


async def stage(run: str, dask_worker: Any) -> dict[int, str]:
    """Stage all bots; return why some cannot be staged, by number.

    Raises:
        UnknownRunError: The run is not known here, or no longer.
        HostError: The cache cannot be used.
    """
    with _host_errors():
        return await asyncio.to_thread(_host(dask_worker, run).stage)


async def try_out(run: str, dask_worker: Any) -> None:
    """Check that a worker program starts and plays here.

    Raises:
        UnknownRunError: The run is not known here.
        ProgramError: It does not.
    """
    await asyncio.to_thread(_host(dask_worker, run).programs.try_out)


async def renew(run: str, dask_worker: Any) -> None:
    """Renew the lease of a run. A worker that forgot the run reports that with its next task."""
    host = dask_worker.plugins.get(topic(run))
    if host is not None:
        host.renew()


async def leave(run: str, *, politely: bool, dask_worker: Any) -> None:
    """End the run here, with all that it started."""
    host = dask_worker.plugins.get(topic(run))
    if host is not None:
        await host.end(politely=politely)
        await dask_worker.plugin_remove(topic(run))


def play(run: str, frame: bytes) -> bytes:
    """Do a task, as a task of Dask.

    Args:
        run: The run.
        frame: The task as a frame of `run.worker_process`.

    Returns:
        The body of the outcome's frame.

    Raises:
        UnknownRunError: The run is not known here.
        ProgramError: No worker program does it.
    """
    return _host(get_worker(), run).programs.play(frame)


@contextmanager
def _host_errors() -> Iterator[None]:
    """Raise this host's own OSErrors as HostErrors: the caller sees network errors as OSErrors."""
    try:
        yield
    except OSError as error:
        where = "" if error.filename else f" in {cache_folder()} or {tempfile.tempdir}"
        raise HostError(f"{error}{where}") from error


def _host(dask_worker: Any, run: str) -> _RunPlugin:
    host = dask_worker.plugins.get(topic(run))
    if not isinstance(host, _RunPlugin):
        raise UnknownRunError(run)
    return host


class _RunPlugin(WorkerPlugin):  # type: ignore[misc] # distributed has no types
    """One run on one Dask worker; it ends with the worker, or when the run's lease expires."""

    def __init__(self, bundle: RunBundle) -> None:
        self._bundle = bundle
        self._cache = cache_folder()
        self._temp = make_temp("run")
        self._programs: WorkerPool | None = None
        self._over = False
        self._builds = False
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

    @property
    def programs(self) -> WorkerPool:
        """The worker programs here.

        Raises:
            UnknownRunError: There are none, or no longer.
        """
        if self._over or self._programs is None:
            raise UnknownRunError
        return self._programs

    def renew(self) -> None:
        """Renew the lease."""
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
        for bot_bundle in self._bundle.bots.values():
            key = bot_bundle.archive
            folder = unpacked_folder(self._cache, key) if key is not None else None
            if bot_bundle.entrant is not None:
                entrants.append(bot_bundle.entrant.model_copy(update={"folder": folder}))
            elif folder is not None:
                ready.append(bot_bundle.moved(folder))
        setup = self._bundle.setup
        staged, reasons = self._staged(entrants)
        numbers = {entrant.name: entrant.number for entrant in entrants}
        broken = {numbers[name]: reason for name, reason in reasons.items()}
        broken |= {bot.number: _OTHER_FILES for bot in staged if not self._is_same(bot)}
        whole = [bot for bot in (*ready, *staged) if bot.number not in broken]
        self._programs = WorkerPool(
            msgspec.structs.replace(setup, bots=tuple(whole), temp=str(self._temp)),
            f"the Dask worker {self._worker.address}",
            self._tell,
            pin=self._bundle.pin,
        )
        return broken

    def _staged(self, entrants: list[Entrant]) -> tuple[list[Bot], dict[str, str]]:
        setup = self._bundle.setup
        with _one_builds:
            self._builds = True
            try:
                if self._over:
                    raise UnknownRunError
                staged = stage_all(
                    entrants,
                    launcher=choose(setup.sandbox, trusted=True),
                    build_network=setup.build_network,
                    alone=False,  # this process may serve other runs too
                )
            finally:
                self._builds = False
        if self._over:  # the bots are not to blame for builds that were ended
            raise UnknownRunError
        return staged

    def _tell(self, news: bytes | str) -> None:
        """Send a message to the runner, if it can be reached."""
        with suppress(OSError):
            self._worker.log_event(topic(self._bundle.run), news)

    def _is_same(self, bot: Bot) -> bool:
        return bot.hash == self._bundle.bots[bot.number].bot.hash

    async def end(self, *, politely: bool) -> None:
        """End all worker programs and remove all temporary files."""
        if self._over:
            return
        self._over = True
        if self._watching is not None and self._watching is not asyncio.current_task():
            self._watching.cancel()
        while self._builds:
            await asyncio.to_thread(end_started)
            await asyncio.sleep(_BUILDS_LOOK)
        if self._programs is not None:
            seconds = _POLITE if politely else _PROMPT
            await asyncio.to_thread(self._programs.end, seconds, politely=politely)
        await asyncio.to_thread(remove_tree, self._temp)

    async def _watch(self) -> None:
        """End when the runner was killed or can no longer be reached."""
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self._heard.wait(), LEASE)
                self._heard.clear()
        await self.end(politely=False)
        name = topic(self._bundle.run)
        if self._worker.plugins.get(name) is self:  # not a newer one
            del self._worker.plugins[name]
