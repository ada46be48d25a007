"""The worker programs of one run on one Dask worker, one for each task at a time.

Programs are kept from task to task. They are started from a thread that lives as long as the run,
because the system ends them with the thread that started them: no bot outlives the Dask worker.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.process.cores import claim
from tourney_runner.process.process_tree import end_left_by
from tourney_runner.run.watchdog import Silence, describe_task
from tourney_runner.run.worker_process import (
    Alive,
    Chunk,
    Waiting,
    WorkerProgram,
    outcome_frame,
    read_task,
    task_frame,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.run.worker_process import Setup, Task

__all__ = ["ProgramError", "UnknownRunError", "WorkerPool"]

_PROMPT = 1.0
"""Seconds that a dismissed program gets to end."""
_LOOK = 1.0
"""Seconds between two checks of a silent program."""
_NO_MATCHES = Chunk(0, (), renew=True)
"""A task that shows that a worker program works. It ends the bots: a lane's record of the cards
that they know would be lost."""
_SAID = 4096
"""The number of bytes at the end of a program's stderr that are read."""
_HEADER = 4
"""The number of bytes before the body of a frame."""


class ProgramError(Exception):
    """A worker program cannot be started, or ended during a task; the message is the reason."""


class UnknownRunError(Exception):
    """This Dask worker does not know the run: it was restarted, or the lease expired."""


@dataclass
class _Kept:
    """The resources and state of a running worker program."""

    resources: ExitStack
    """Its core and the file of its standard error."""
    stderr: int
    """The descriptor of that file."""
    lane: int | None
    """The lane of its last task."""


class WorkerPool:
    """A pool of worker programs, started on demand.

    Args:
        setup: The setup of each program, with a folder for temporary files of this run.
        who: The Dask worker, in words.
        tell: Called with messages for the runner: frames of outcomes, and lines.
        pin: Whether each is kept on a core of its own, as far as cores are free.
    """

    def __init__(
        self, setup: Setup, who: str, tell: Callable[[bytes | str], None], *, pin: bool
    ) -> None:
        self._setup = setup
        self._who = who
        self._tell = tell
        self._pin = pin
        self._names = {bot.number: bot.name for bot in setup.bots}
        self._lock = threading.Lock()
        self._idle: list[WorkerProgram] = []
        self._all: dict[WorkerProgram, _Kept] = {}
        self._over = False
        self._starter = ThreadPoolExecutor(1, "tourney-starter")

    def play(self, frame: bytes) -> bytes:
        """Do a task.

        Args:
            frame: The task as a frame of `run.worker_process`.

        Returns:
            The body of the outcome's frame.

        Raises:
            UnknownRunError: The run is over here.
            ProgramError: No program does it.
        """
        task = read_task(frame[_HEADER:])
        lane = task.lane if isinstance(task, Chunk) else None
        program = self._take(lane)
        try:
            program.write(frame)
            outcome = self._outcome(program, task)
        except BaseException:
            self._dismiss(program)
            raise
        with self._lock:
            if not self._over:
                self._idle.append(program)
                return outcome
        self._dismiss(program)  # `end` left it as a busy one
        return outcome

    def try_out(self) -> None:
        """Check that a program starts and plays.

        Raises:
            UnknownRunError: The run is over here.
            ProgramError: It does not.
        """
        self.play(task_frame(_NO_MATCHES))

    def end(self, seconds: float, *, politely: bool) -> None:
        """End all programs; busy ones are collected by the threads that wait for them.

        Args:
            seconds: The time after which remaining programs are killed.
            politely: Whether bots may end by themselves.
        """
        with self._lock:
            self._over = True
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

    def _take(self, lane: int | None) -> WorkerProgram:
        """Return an idle worker program, preferably the last one of this lane, or a new one."""
        with self._lock:
            if self._over:
                raise UnknownRunError
            if self._idle:
                own = (at for at, one in enumerate(self._idle) if self._all[one].lane == lane)
                program = self._idle.pop(next(own, -1))
                self._all[program].lane = lane
                return program
        program = self._start(lane)
        if self._over:
            self._dismiss(program)
            raise UnknownRunError
        return program

    def _start(self, lane: int | None) -> WorkerProgram:
        setup = self._setup
        with ExitStack() as resources:
            for core in claim(1) if self._pin else ():
                resources.callback(core.release)
                setup = msgspec.structs.replace(setup, cpu=core.number)
            try:
                stderr = resources.enter_context(tempfile.TemporaryFile(dir=setup.temp))
                program = self._starter.submit(WorkerProgram, setup, stderr).result()
            except OSError as error:
                raise ProgramError(f"no worker program can be started: {error}") from error
            with self._lock:
                self._all[program] = _Kept(resources.pop_all(), stderr.fileno(), lane)
        return program

    def _outcome(self, program: WorkerProgram, task: Task) -> bytes:
        """Read until the task is done, and report awaited bots and silence until then."""
        silence = Silence()
        silence.restart(time.monotonic())
        while True:
            if not program.has_output(_LOOK):
                self._look(program, silence, task)
                continue
            outcomes = program.read()
            if outcomes is None:
                raise ProgramError(self._end_of(program))
            silence.restart(time.monotonic())
            for outcome in outcomes:
                if isinstance(outcome, Alive):
                    continue
                frame = outcome_frame(outcome)[_HEADER:]
                if not isinstance(outcome, Waiting):
                    return frame
                self._tell(frame)

    def _end_of(self, program: WorkerProgram) -> str:
        """Return how a program ended, with the last line of its standard error."""
        status = program.end(_PROMPT)
        stderr = self._all[program].stderr
        size = os.fstat(stderr).st_size
        words = os.pread(stderr, _SAID, max(0, size - _SAID)).decode(errors="replace")
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        said = f"; the end of its stderr: {lines[-1]}" if lines else ""
        return f"a worker program ended (exit status {status}){said}"

    def _look(self, program: WorkerProgram, silence: Silence, task: Task) -> None:
        """Report a program that is stopped or stuck, and end it if it stays so."""
        report = silence.check(time.monotonic())
        if report.due:
            what = "starting" if task == _NO_MATCHES else describe_task(task, self._names)
            self._tell(report.line(f"worker {program.pid} of {self._who}", what))
        if report.lost:
            program.kill()  # noticed at the next reading

    def _dismiss(self, program: WorkerProgram) -> None:
        program.stop()
        program.end(_PROMPT)
        self._release(program)

    def _release(self, program: WorkerProgram) -> None:
        """Forget an ended program, and end the processes that it left if it was killed."""
        with self._lock:
            alive = {other.pid for other in self._all}
        end_left_by(program.pid, alive)
        with self._lock:
            kept = self._all.pop(program, None)
        if kept is not None:
            kept.resources.close()
