"""The worker programs of one run on one Dask worker: as many as it does tasks at a time.

Programs are kept from task to task. They are started from a thread that lives as long as the run,
since the system ends them with the thread that started them: whatever becomes of the Dask worker,
no bot outlives it.
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

from tourney_runner.process.process_tree import end_left_by
from tourney_runner.run.cores import claim
from tourney_runner.run.watchdog import Silence, describe_task
from tourney_runner.run.worker_messages import (
    Alive,
    Chunk,
    Waiting,
    outcome_frame,
    read_task,
    task_frame,
)
from tourney_runner.run.worker_process import WorkerProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.run.worker_messages import Setup, Task

__all__ = ["ProgramError", "UnknownRunError", "WorkerPool"]

_PROMPT = 1.0
"""Seconds that a program gets to end that is not wanted any more."""
_LOOK = 1.0
"""Seconds between two looks at a program that says nothing."""
_NO_MATCHES = Chunk(0, (), renew=True)
"""Shows that a worker program works; it ends its bots, since it forgets what cards they know."""
_SAID = 4096
"""Bytes of a program's last words that are looked at."""
_HEADER = 4
"""Bytes before the body of a frame."""


class ProgramError(Exception):
    """A worker program cannot be started, or ended in the middle of a task; the message is why."""


class UnknownRunError(Exception):
    """This Dask worker knows nothing of the run: it was started again, or gave up waiting."""


@dataclass
class _Kept:
    """What is known of a worker program that runs."""

    belongings: ExitStack
    """Gives back its core and the file of its standard error."""
    stderr: int
    """The descriptor of that file."""
    lane: int | None
    """Of its last task."""


class WorkerPool:
    """Starts worker programs as they are needed, and has them do tasks.

    Args:
        setup: What each is told; its folder for temporary files is one of the run's own.
        who: The Dask worker, in words.
        tell: Called with what the runner should hear of: frames of outcomes, and lines.
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
        """Have a task done.

        Args:
            frame: The task, as `run.worker_messages` writes it.

        Returns:
            The body of the outcome's frame.

        Raises:
            UnknownRunError: The run is over here.
            ProgramError: There is no program that does it.
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
        self._dismiss(program)  # `end` took it for busy
        return outcome

    def try_out(self) -> None:
        """See whether a program starts and plays.

        Raises:
            UnknownRunError: The run is over here.
            ProgramError: None does.
        """
        self.play(task_frame(_NO_MATCHES))

    def end(self, seconds: float, *, politely: bool) -> None:
        """End programs within so many seconds; busy ones are collected by who waits for them.

        Args:
            seconds: See above; those that take longer are killed.
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
        """A worker program that has nothing to do, if there is one the last of this lane."""
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
        with ExitStack() as belongings:
            for core in claim(1) if self._pin else ():
                belongings.callback(core.release)
                setup = msgspec.structs.replace(setup, cpu=core.number)
            try:
                stderr = belongings.enter_context(tempfile.TemporaryFile(dir=setup.temp))
                program = self._starter.submit(WorkerProgram, setup, stderr).result()
            except OSError as error:
                raise ProgramError(f"no worker program can be started: {error}") from error
            with self._lock:
                self._all[program] = _Kept(belongings.pop_all(), stderr.fileno(), lane)
        return program

    def _outcome(self, program: WorkerProgram, task: Task) -> bytes:
        """Read until the task is done; tells meanwhile of bots waited for, and of silence."""
        silence = Silence()
        silence.restart(time.monotonic())
        while True:
            if not program.has_spoken(_LOOK):
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
        """How a program ended, and the last line that it wrote to its standard error."""
        status = program.end(_PROMPT)
        stderr = self._all[program].stderr
        size = os.fstat(stderr).st_size
        words = os.pread(stderr, _SAID, max(0, size - _SAID)).decode(errors="replace")
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        said = f"; it said: {lines[-1]}" if lines else ""
        return f"a worker program ended (exit status {status}){said}"

    def _look(self, program: WorkerProgram, silence: Silence, task: Task) -> None:
        """Tell of a program that is stopped or stuck, and end it if it stays so."""
        report = silence.check(time.monotonic())
        if report.due:
            what = "starting" if task == _NO_MATCHES else describe_task(task, self._names)
            self._tell(report.line(f"worker {program.pid} of {self._who}", what))
        if report.lost:
            program.kill()  # which is seen at the next reading

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
            kept = self._all.pop(program, None)
        if kept is not None:
            kept.belongings.close()
