"""The worker program: plays what it is given and writes down what happened.

It is a program of its own, so that it can be pinned to a core together with its bots, and so
that nothing that happens in it can hurt the run: a worker that dies is replaced, and what it was
playing is played again. It reads a `Setup` and then tasks from stdin, and writes outcomes to
stdout, until stdin ends.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tourney_runner import __version__
from tourney_runner.play.faults import Fault, HostFailureError, VoidTwiceError
from tourney_runner.play.match import PLAYS, Tables
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.process_tree import end_unknown_children
from tourney_runner.process.procfs import become_subreaper, die_with_parent
from tourney_runner.process.sandbox import choose
from tourney_runner.process.temporary_folders import remove_own
from tourney_runner.run.worker_messages import (
    Alive,
    Broken,
    Check,
    Checked,
    Chunk,
    FrameReader,
    Played,
    Spoilt,
    VoidDeal,
    Waiting,
    outcome_frame,
    read_setup,
    read_task,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tourney_runner.play.play_settings import MatchPlan
    from tourney_runner.play.player import Player
    from tourney_runner.results.records import DealRecord
    from tourney_runner.run.worker_messages import Outcome, Setup, Task

__all__ = ["Worker", "main"]

_READ = 1 << 20
_TELL_EVERY = 1.0
"""Seconds between two signs of life."""
_FILES = 4096
"""Open files that a worker asks for."""
_FILES_A_BOT = 6
"""Its three pipes, and what is open for a moment while it is started or looked at."""
_OWN_FILES = 32
_STEP_AT_MOST = 0.3
"""Seconds between two steps of one wait, on a busy machine."""


class _Stop(BaseException):
    """The runner wants this worker to end, now."""


class _Silence:
    """For how long one bot has been waited for, from being told of every step of the wait."""

    def __init__(self) -> None:
        self._bot = ""
        self._since = self._last = 0.0

    def for_so_long(self, bot: str, now: float) -> float:
        """Seconds of this wait; told every few hundredths of a second while it goes on."""
        if bot != self._bot or now - self._last > _STEP_AT_MOST:
            self._bot, self._since = bot, now
        self._last = now
        return now - self._since


class Worker:
    """Plays tasks and gives their outcomes.

    Args:
        setup: See there.
        output: The descriptor that outcomes are written to.
    """

    def __init__(self, setup: Setup, output: int) -> None:
        self._output = output
        self._number = 0
        self._block = -1
        self._met: set[tuple[int, int]] = set()
        """The cards, by round and match, that some bot that lives may know."""
        self._told = 0.0
        self._silent = _Silence()
        self._tables = Tables(
            setup.settings,
            setup.bots,
            choose(setup.sandbox, trusted=True),
            make_clock(setup.clock),
            most_alive=min(setup.most_alive, _room_for_bots()),
            waiting=self._waiting,
        )

    def work(self, task: Task) -> None:
        """Do a task and write its outcome."""
        self._number = task.number
        self._told = time.monotonic()
        try:
            outcome: Outcome = self._play(task) if isinstance(task, Chunk) else self._check(task)
        except HostFailureError as error:
            outcome = Spoilt(task.number, str(error))
        except Exception:  # noqa: BLE001 - a bug in here must be reported, not lost with the worker
            outcome = Broken(task.number, traceback.format_exc())
        self._write(outcome)

    def close(self) -> None:
        """End all bots politely."""
        self._tables.pool.renew()

    def kill(self) -> None:
        """End all bots at once."""
        self._tables.pool.kill()

    def _play(self, chunk: Chunk) -> Played:
        if chunk.renew:
            self._renew()
        if chunk.block != self._block:
            self._met.clear()
            self._block = chunk.block
        began, used = time.monotonic(), time.process_time()
        records: list[DealRecord] = []
        void: list[VoidDeal] = []
        for plan in chunk.matches:
            self._see_to_fresh_cards(plan)
            try:
                records += self._match(chunk, plan)
            except VoidTwiceError as twice:
                void.append(VoidDeal(plan, twice.deal, twice.voids))
        seconds, cpu = time.monotonic() - began, time.process_time() - used
        return Played(chunk.number, tuple(records), seconds, cpu, tuple(void))

    def _match(self, chunk: Chunk, plan: MatchPlan) -> list[DealRecord]:
        void = chunk.voided
        voided = None if void is None else VoidTwiceError(void.deal, void.voids)
        records = []
        for record in self._tables.play(plan, alone=voided is not None, voided=voided):
            records.append(record)
            self._tell(Alive(chunk.number), time.monotonic())
        return records

    def _see_to_fresh_cards(self, plan: MatchPlan) -> None:
        """Let no process meet the cards of a deal twice."""
        cards = plan.round, plan.match
        if cards in self._met:
            self._renew()
        self._met.add(cards)

    def _renew(self) -> None:
        self._tables.pool.renew()
        end_unknown_children(set())  # all that bots have left, however well it hid
        self._met.clear()

    def _check(self, check: Check) -> Checked:
        (player,) = self._tables.pool.seat((check.entrant,))
        try:
            self._start(player)
        except Fault as fault:
            return Checked(check.number, check.entrant, None, fault.cause, fault.stderr)
        finally:
            player.decisive = False
        self._tables.pool.renew()
        return Checked(check.number, check.entrant, player.ready)

    @staticmethod
    def _start(player: Player) -> None:
        """Start a bot, again if the host fails; the last start decides."""
        for _ in range(PLAYS - 1):
            with suppress(HostFailureError):
                player.start()
                return
        player.decisive = True
        player.start()

    def _waiting(self, bot: str) -> None:
        now = time.monotonic()
        long = self._silent.for_so_long(bot, now) >= _TELL_EVERY
        self._tell(Waiting(self._number, bot) if long else Alive(self._number), now)

    def _tell(self, sign: Waiting | Alive, now: float) -> None:
        """Give a sign of life, if the last one is old enough."""
        if now - self._told >= _TELL_EVERY:
            self._told = now
            self._write(sign)

    def _write(self, outcome: Outcome) -> None:
        data = memoryview(outcome_frame(outcome))
        while data:
            data = data[os.write(self._output, data) :]


def _room_for_bots() -> int:
    """How many bots this process has open files for, once it may have as many as it can get."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, (files - _OWN_FILES) // _FILES_A_BOT)


def _frames(descriptor: int) -> Iterator[bytes]:
    reader = FrameReader()
    while data := os.read(descriptor, _READ):
        yield from reader.feed(data)


def _leave_nothing(worker: Worker | None, runner: int) -> None:
    """End all bots, even if the signal to end came in the middle of ending one.

    The folder for temporary files is shared with other workers. The runner removes it, unless it
    was killed.

    Args:
        worker: What has been playing.
        runner: The process that started this one.
    """
    try:
        if worker is not None:
            worker.kill()
    finally:
        end_unknown_children(set())
        if tempfile.tempdir is not None:
            remove_own()
            if os.getppid() != runner:
                with suppress(OSError):  # other workers may still have files in it
                    Path(tempfile.tempdir).rmdir()


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, _go_on_ending)
    raise _Stop


def _go_on_ending(_signal: int, _frame: FrameType | None) -> None:
    """What is under way to the end must not be cut short by the next signal.

    Not SIG_IGN: Python complains of a signal that is to be ignored only since it came.
    """


def main() -> None:
    """Work until stdin ends, or until told to stop by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker: Worker | None = None
    runner = os.getppid()
    try:
        try:
            signal.signal(signal.SIGTERM, _stop)
            die_with_parent(signal.SIGTERM)
            if os.getppid() != runner:
                return
            become_subreaper()
            output = os.dup(1)
            os.dup2(2, 1)  # nothing that prints may get between the frames
            frames = _frames(0)
            worker = _worker(next(frames), output)
            for frame in frames:
                worker.work(read_task(frame))
            worker.close()
        finally:
            signal.signal(signal.SIGTERM, _go_on_ending)
    except (_Stop, StopIteration, BrokenPipeError):
        pass
    finally:
        _leave_nothing(worker, runner)


def _worker(frame: bytes, output: int) -> Worker:
    """The worker that the first frame asks for, with this process made what it should be."""
    setup = read_setup(frame)
    if setup.version != __version__:
        sys.exit(f"this worker is tourney {__version__}, the runner is {setup.version}")
    if setup.cpu is not None:
        os.sched_setaffinity(0, {setup.cpu})
    tempfile.tempdir = setup.temp
    return Worker(setup, output)


if __name__ == "__main__":
    main()
