"""Workers on this machine, one a core."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

import msgspec

from runner.errors import RunError
from runner.process.sweep import end_unknown_children
from runner.process.system import become_subreaper
from runner.run.cores import CAN_PIN, available, claim
from runner.run.executor import Executor
from runner.run.temporary import TEMP_PREFIX, remove_tree
from runner.run.wire import (
    Broken,
    Chunk,
    FrameReader,
    Spoilt,
    Waiting,
    read_outcome,
    setup_frame,
    task_frame,
)

if TYPE_CHECKING:
    from runner.run.cores import Core
    from runner.run.wire import Outcome, Setup, Task

__all__ = ["LocalExecutor"]

_READ = 1 << 20
_TRIES = 3
"""A task that has ended so many workers is not tried again."""
_POLITE = 5.0
_PROMPT = 1.0
"""Seconds that workers get to end, when all is done and when interrupted."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    core: Core | None
    task: Task | None = None
    reader: FrameReader = field(default_factory=FrameReader)


class LocalExecutor(Executor):
    """Starts workers, gives each one task at a time, and replaces those that die.

    Args:
        setup: What every worker is told.
        jobs: How many workers; None for one on each core that no other run has, at least one.
        pin: Whether each is kept on a core of its own, as far as cores are free.

    Raises:
        RunError: No worker can be started.
    """

    def __init__(self, setup: Setup, jobs: int | None, *, pin: bool = True) -> None:
        become_subreaper()
        self._poll = select.poll()
        self._workers: dict[int, _Worker] = {}
        self._deaths: Counter[int] = Counter()
        self._idle_deaths = 0
        self._temp = Path(tempfile.mkdtemp(prefix=TEMP_PREFIX))
        self._setup = msgspec.structs.replace(setup, temp=str(self._temp))
        wanted = jobs or available()
        self._pin = pin and CAN_PIN
        self._cores = claim(wanted) if self._pin else []
        if jobs is None and self._pin:
            wanted = max(1, len(self._cores))
        self._news = self._about_cores(wanted)
        try:
            for number in range(wanted):
                self._start(self._cores[number] if number < len(self._cores) else None)
        except BaseException:
            self.kill()
            raise

    @property
    def slots(self) -> int:
        """See `Executor.slots`."""
        return len(self._workers)

    def news(self) -> list[str]:
        """See `Executor.news`."""
        news, self._news = self._news, []
        return news

    def submit(self, task: Task) -> None:
        """See `Executor.submit`."""
        idle = next(worker for worker in self._workers.values() if worker.task is None)
        self._hand(idle, task)

    def wait(self, timeout: float) -> list[Outcome]:
        """See `Executor.wait`."""
        outcomes: list[Outcome] = []
        for descriptor, _ in self._poll.poll(timeout * 1000):
            worker = self._workers[descriptor]
            data = os.read(descriptor, _READ)
            if not data:
                self._replace(worker)
                continue
            for frame in worker.reader.feed(data):
                outcome = read_outcome(frame)
                if isinstance(outcome, Broken):
                    raise RunError(
                        "a worker failed; this is a bug of tourney, please report it. What was"
                        f" stored before is safe.\n{indent(outcome.traceback, '  ')}"
                    )
                if isinstance(outcome, Spoilt):
                    raise RunError(
                        f"the run pauses: this machine spoils the same deal again and again"
                        f" ({outcome.cause}). No bot is blamed, and what was stored before is safe."
                        " Give the machine more room (fewer --jobs, fewer other programs), then run"
                        " the same command again to continue."
                    )
                if not isinstance(outcome, Waiting):
                    worker.task = None
                    self._idle_deaths = 0
                outcomes.append(outcome)
        return outcomes

    def close(self) -> None:
        """See `Executor.close`."""
        for worker in self._workers.values():
            os.close(worker.stdin)
            worker.stdin = -1
        self._end(_POLITE)

    def kill(self) -> None:
        """See `Executor.kill`."""
        for worker in self._workers.values():
            worker.process.send_signal(signal.SIGTERM)
        self._end(_PROMPT)

    def _about_cores(self, workers: int) -> list[str]:
        """Whether workers lack a core of their own, though they should have one."""
        lacking = workers - len(self._cores) if self._pin else 0
        if not lacking:
            return []
        note = f"note: {lacking} of {workers} workers have no core of their own"
        return [f"{note}: there are no more, or other runs hold them"]

    def _start(self, core: Core | None) -> _Worker:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "runner.run.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(
                f"a worker cannot be started ({error}). What was stored before is safe; run the"
                " same command again to continue, with fewer --jobs if this machine is full."
            ) from error
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a worker's streams must be pipes")
        worker = _Worker(process, os.dup(process.stdin.fileno()), process.stdout.fileno(), core)
        process.stdin.close()
        self._workers[worker.stdout] = worker
        self._poll.register(worker.stdout, select.POLLIN)
        cpu = None if core is None else core.number
        self._write(worker, setup_frame(msgspec.structs.replace(self._setup, cpu=cpu)))
        return worker

    def _hand(self, worker: _Worker, task: Task) -> None:
        worker.task = task
        self._write(worker, task_frame(task))

    @staticmethod
    def _write(worker: _Worker, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(worker.stdin, rest) :]
        except BrokenPipeError:  # it has died: `wait` will see the end of its output
            return

    def _replace(self, worker: _Worker) -> None:
        """Start another worker for one that died, and have it do the same task again."""
        worker.process.kill()
        status = worker.process.wait()
        self._forget(worker)
        self._sweep()
        task = worker.task
        if task is None:
            self._idle_deaths += 1
        else:
            self._deaths[task.number] += 1
        if self._idle_deaths >= _TRIES or (task and self._deaths[task.number] >= _TRIES):
            raise RunError(
                f"workers end again and again (exit status {status}) while {self._doing(task)}."
                " What was stored before is safe; is the machine out of memory? Run the same"
                " command again to continue."
            )
        replacement = self._start(worker.core)
        if task is not None:
            self._hand(replacement, task)

    def _forget(self, worker: _Worker) -> None:
        self._poll.unregister(worker.stdout)
        del self._workers[worker.stdout]
        if worker.process.stdout is not None:
            worker.process.stdout.close()
        if worker.stdin >= 0:
            os.close(worker.stdin)
            worker.stdin = -1

    def _sweep(self) -> None:
        end_unknown_children({worker.process.pid for worker in self._workers.values()})

    def _end(self, grace: float) -> None:
        until = time.monotonic() + grace
        for worker in list(self._workers.values()):
            try:
                worker.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            self._forget(worker)
        self._sweep()
        remove_tree(self._temp)
        for core in self._cores:
            core.release()

    def _doing(self, task: Task | None) -> str:
        """What a worker was at, in words."""
        if task is None:
            return "they have nothing to do"
        names = [bot.name for bot in self._setup.bots]
        if not isinstance(task, Chunk):
            return f"starting the bot {names[task.entrant]!r} to check it"
        first, *others = task.matches
        seated = ", ".join(names[entrant] for entrant in first.seating)
        more = f" and {len(others)} more" if others else ""
        return f"playing round {first.round + 1}, match {first.match + 1} ({seated}){more}"
