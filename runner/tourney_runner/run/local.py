"""The executor with workers on this machine, one per core."""

from __future__ import annotations

import select
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.errors import RunError
from tourney_runner.process.cores import CAN_PIN, available, claim
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.process.process_tree import end_unknown_children
from tourney_runner.process.procfs import become_subreaper
from tourney_runner.run.executor import Executor, raise_if_broken
from tourney_runner.run.watchdog import Silence, describe_task
from tourney_runner.run.worker_process import (
    Alive,
    Chunk,
    HostFailed,
    Waiting,
    WorkerProgram,
    task_frame,
)

if TYPE_CHECKING:
    from tourney_runner.process.cores import Core
    from tourney_runner.run.worker_process import Outcome, Setup, Task

__all__ = ["LocalExecutor"]

_TRIES = 3
"""The number of dead workers after which their task is not tried again."""
_POLITE = 5.0
_PROMPT = 1.0
"""Seconds that workers get to end, after the last task and after an interruption."""


@dataclass
class _Worker:
    program: WorkerProgram
    core: Core | None
    lane: int
    task: Task | None = None
    leaving: bool = False
    """Whether it ends once its task is done."""
    silence: Silence = field(default_factory=Silence)


class LocalExecutor(Executor):
    """An executor with local workers, one task each at a time, which replaces dead and silent ones.

    Args:
        setup: The setup of every worker.
        jobs: The number of workers; None for one per core that no other run holds, at least one.
        pin: Whether each worker is pinned to a core of its own, as far as cores are free.

    Raises:
        RunError: No worker can be started.
    """

    def __init__(self, setup: Setup, jobs: int | None, *, pin: bool = True) -> None:
        become_subreaper()
        self._poll = select.poll()
        self._workers: dict[int, _Worker] = {}
        self._deaths: Counter[int] = Counter()
        self._idle_deaths = 0
        self._temp = make_temp("run")
        self._setup = msgspec.structs.replace(setup, temp=str(self._temp))
        wanted = available() if jobs is None else jobs
        self._pin = pin and CAN_PIN
        self._cores = claim(wanted) if self._pin else []
        if jobs is None and self._pin:
            wanted = max(1, len(self._cores))
        self._news = self._about_cores(wanted)
        try:
            for number in range(wanted):
                self._start(self._cores[number] if number < len(self._cores) else None, number)
        except BaseException:
            self.kill()
            raise

    @property
    def slots(self) -> int:
        """See `Executor.slots`."""
        return sum(not worker.leaving for worker in self._workers.values())

    @property
    def can_resize(self) -> bool:
        """See `Executor.can_resize`."""
        return True

    @property
    def workers(self) -> int:
        """See `Executor.workers`."""
        return len(self._workers)

    def resize(self, workers: int) -> None:
        """See `Executor.resize`; surplus workers are those of the highest lanes."""
        in_order = sorted(self._workers.values(), key=lambda worker: worker.lane)
        for number, worker in enumerate(in_order):
            worker.leaving = number >= workers
        self._let_leave()
        taken = {worker.lane for worker in in_order}
        free = (lane for lane in count() if lane not in taken)
        for _ in range(workers - self.slots):
            cores = claim(1) if self._pin else []
            self._cores += cores
            self._start(cores[0] if cores else None, next(free))

    def _let_leave(self) -> None:
        """End the idle workers that are to leave."""
        for worker in list(self._workers.values()):
            if worker.leaving and worker.task is None:
                self._forget(worker)
                worker.program.finish()
                worker.program.end(_POLITE)
                if worker.core is not None:
                    self._cores.remove(worker.core)
                    worker.core.release()
                self._sweep()

    def news(self) -> list[str]:
        """See `Executor.news`."""
        news, self._news = self._news, []
        return news

    def submit(self, task: Task) -> None:
        """See `Executor.submit`."""
        idle = [one for one in self._workers.values() if one.task is None and not one.leaving]
        lane = task.lane if isinstance(task, Chunk) else None
        self._hand(next((one for one in idle if one.lane == lane), idle[0]), task)

    def wait(self, timeout: float) -> list[Outcome]:
        """See `Executor.wait`."""
        outcomes: list[Outcome] = []
        for descriptor, _ in self._poll.poll(timeout * 1000):
            worker = self._workers[descriptor]
            read = worker.program.read()
            if read is None:
                self._replace(worker)
                continue
            worker.silence.restart(time.monotonic())
            for outcome in read:
                raise_if_broken(outcome)
                if isinstance(outcome, HostFailed):
                    raise RunError(
                        f"the run stops: this machine repeatedly fails the same start or deal"
                        f" ({outcome.cause}). No bot is blamed, and what was stored before is safe."
                        " Reduce the load (fewer --jobs, fewer other programs), then run the same"
                        " command again to continue."
                    )
                if not isinstance(outcome, Waiting | Alive):
                    worker.task = None
                    self._idle_deaths = 0
                outcomes.append(outcome)
        self._let_leave()
        self._look_for_silent()
        return outcomes

    def close(self) -> None:
        """See `Executor.close`."""
        for worker in self._workers.values():
            worker.program.finish()
        self._end(_POLITE)

    def kill(self) -> None:
        """See `Executor.kill`."""
        for worker in self._workers.values():
            worker.program.stop()
        self._end(_PROMPT)

    def _about_cores(self, workers: int) -> list[str]:
        """Return a note about workers that should be pinned and have no core of their own."""
        lacking = workers - len(self._cores) if self._pin else 0
        if not lacking:
            return []
        if workers == 1:
            return ["note: the worker has no core of its own: other runs hold them"]
        note = f"note: {lacking} of {workers} workers have no core of their own"
        return [f"{note}: there are no more, or other runs hold them"]

    def _start(self, core: Core | None, lane: int) -> _Worker:
        cpu = None if core is None else core.number
        try:
            program = WorkerProgram(msgspec.structs.replace(self._setup, cpu=cpu))
        except OSError as error:
            raise RunError(
                f"a worker cannot be started ({error}). What was stored before is safe; run the"
                " same command again to continue, with fewer --jobs if this machine is full."
            ) from error
        worker = _Worker(program, core, lane)
        self._workers[program.output] = worker
        self._poll.register(program.output, select.POLLIN)
        return worker

    @staticmethod
    def _hand(worker: _Worker, task: Task) -> None:
        worker.task = task
        worker.silence.restart(time.monotonic())
        worker.program.write(task_frame(task))

    def _look_for_silent(self) -> None:
        """Report workers that are stopped or stuck, and end those that stay so."""
        now = time.monotonic()
        for worker in self._workers.values():
            if worker.task is None:
                continue
            report = worker.silence.check(now)
            if report.due:
                who = f"worker {worker.program.pid}"
                self._news.append(report.line(who, self._doing(worker.task)))
            if report.lost:
                worker.program.kill()  # noticed by the next `wait`

    def _replace(self, worker: _Worker) -> None:
        """Replace a dead worker; the new one does the same task again."""
        self._forget(worker)
        status = worker.program.end()
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
        replacement = self._start(worker.core, worker.lane)
        replacement.leaving = worker.leaving
        if task is not None:
            self._hand(replacement, task)

    def _forget(self, worker: _Worker) -> None:
        self._poll.unregister(worker.program.output)
        del self._workers[worker.program.output]

    def _sweep(self) -> None:
        end_unknown_children({worker.program.pid for worker in self._workers.values()})

    def _end(self, grace: float) -> None:
        until = time.monotonic() + grace
        for worker in list(self._workers.values()):
            self._forget(worker)
            worker.program.end(until - time.monotonic())
        self._sweep()
        remove_tree(self._temp)
        for core in self._cores:
            core.release()

    def _doing(self, task: Task | None) -> str:
        """Return a worker's task in words."""
        if task is None:
            return "they are idle"
        return describe_task(task, {bot.number: bot.name for bot in self._setup.bots})
