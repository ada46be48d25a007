"""The worker program, which plays matches and returns the deals.

It is a separate program so that it can be pinned to a core together with its bots, and so that its
failures cannot affect the run: a dead worker is replaced, and its matches are played again. It
reads a `Setup` and then tasks from stdin, and writes outcomes to stdout, until stdin ends.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from tourney_runner import __version__
from tourney_runner.errors import RunError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal_replay import match_so_far
from tourney_runner.play.faults import Fault, HostFailureError, VoidTwiceError
from tourney_runner.play.game_errors import loop_guard
from tourney_runner.play.match import PLAYS, Tables
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.folder_tree import remove_own
from tourney_runner.process.launcher import raise_open_files
from tourney_runner.process.process_tree import end_unknown_children
from tourney_runner.process.procfs import become_subreaper, die_with_parent
from tourney_runner.process.sandbox import choose
from tourney_runner.run.worker_process import (
    Alive,
    Broken,
    Check,
    Checked,
    Chunk,
    FrameReader,
    HostFailed,
    Played,
    VoidDeal,
    Waiting,
    outcome_frame,
    read_setup,
    read_task,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.play.player import Player
    from tourney_runner.results.records import DealRecord
    from tourney_runner.run.worker_process import Outcome, Setup, Task

__all__ = ["Worker", "main"]

_DYING = 2.0
"""Seconds that a killed runner may take to die, on a busy host."""
_READ = 1 << 20
_REPORT_EVERY = 1.0
"""Seconds between two signs of life."""
_FILES_A_BOT = 6
"""Its three pipes, and the files that are open briefly while it is started or inspected."""
_OWN_FILES = 32
_STEP_AT_MOST = 0.3
"""The largest gap in seconds between two steps of one wait, on a busy machine."""


class _Stop(BaseException):
    """An exception raised by SIGTERM, which ends this worker at once."""


class _Wait:
    """The duration of a wait for one bot, measured from the steps of the wait."""

    def __init__(self) -> None:
        self._bot = ""
        self._since = self._last = 0.0

    def seconds(self, bot: str, now: float) -> float:
        """Return the seconds of the current wait; called every few hundredths of a second."""
        if bot != self._bot or now - self._last > _STEP_AT_MOST:
            self._bot, self._since = bot, now
        self._last = now
        return now - self._since


class Worker:
    """A worker, which carries out tasks.

    Args:
        setup: The runner's first message
        output: The descriptor for outcomes.
    """

    def __init__(self, setup: Setup, output: int) -> None:
        self._output = output
        self._settings = setup.settings
        self._number = 0
        self._block = -1
        self._met: set[tuple[int, int]] = set()
        """The cards, by round and match, that a living bot may know."""
        self._reported = 0.0
        self._wait = _Wait()
        self._game = find_game(setup.settings.game)
        self._tables = Tables(
            setup.settings,
            setup.bots,
            choose(setup.sandbox, trusted=True),
            make_clock(setup.clock),
            most_alive=min(setup.most_alive, _room_for_bots()),
            waiting=self._waiting,
        )

    def work(self, task: Task) -> None:
        """Carry out a task and write its outcome."""
        self._number = task.number
        self._reported = time.monotonic()
        try:
            with loop_guard(self._game):
                outcome: Outcome = (
                    self._play(task) if isinstance(task, Chunk) else self._check(task)
                )
        except HostFailureError as error:
            outcome = HostFailed(task.number, str(error))
        except RunError as error:
            outcome = Broken(task.number, traceback.format_exc(), str(error))
        except Exception:  # noqa: BLE001 - a bug here must be reported, not lost with the worker
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
        until = inf if chunk.seconds is None else began + chunk.seconds
        records: list[DealRecord] = []
        void: list[VoidDeal] = []
        rest: list[MatchPlan] = []
        for plan in chunk.matches:
            if records and time.monotonic() >= until:
                rest.append(plan)
                continue
            self._renew_for(plan)
            deals: list[DealRecord] = []
            try:
                if self._match(chunk, plan, deals, until):
                    rest.append(self._after(plan, deals))
            except VoidTwiceError as twice:
                void.append(VoidDeal(self._after(plan, deals), twice.deal, twice.voids))
            records += deals
        seconds, cpu = time.monotonic() - began, time.process_time() - used
        return Played(chunk.number, tuple(records), seconds, cpu, tuple(void), tuple(rest))

    def _match(self, chunk: Chunk, plan: MatchPlan, deals: list[DealRecord], until: float) -> bool:
        """Add the deals of a match to `deals`; return whether time was up before its end."""
        void = chunk.voided
        voided = None if void is None else VoidTwiceError(void.deal, void.voids)
        for record in self._tables.play(plan, alone=voided is not None, voided=voided):
            deals.append(record)
            now = time.monotonic()
            self._report(Alive(chunk.number), now)
            if (
                now >= until
                and not self._settings.match.duplicate
                and self._after(plan, deals).so_far
            ):
                return True
        return False

    def _after(self, plan: MatchPlan, deals: list[DealRecord]) -> MatchPlan:
        """Return the plan of the rest of a match after some more deals."""
        if not deals:
            return plan
        so_far = match_so_far(self._settings, deals, plan.so_far)
        return msgspec.structs.replace(plan, so_far=so_far)

    def _renew_for(self, plan: MatchPlan) -> None:
        """Renew the bots if a process could see the cards of a deal twice."""
        cards = plan.round, plan.match
        if cards in self._met and plan.so_far is None:
            self._renew()
        self._met.add(cards)

    def _renew(self) -> None:
        self._tables.pool.renew()
        end_unknown_children(set())  # whatever the bots left behind
        self._met.clear()

    def _check(self, check: Check) -> Checked:
        (player,) = self._tables.pool.seat((check.entrant,))
        try:
            self._start(player)
        except Fault as fault:
            return Checked(
                check.number, check.entrant, None, fault.cause, fault.stderr, fault.answer
            )
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
        long = self._wait.seconds(bot, now) >= _REPORT_EVERY
        self._report(Waiting(self._number, bot) if long else Alive(self._number), now)

    def _report(self, sign: Waiting | Alive, now: float) -> None:
        """Write a sign of life, if the last one is old enough."""
        if now - self._reported >= _REPORT_EVERY:
            self._reported = now
            self._write(sign)

    def _write(self, outcome: Outcome) -> None:
        data = memoryview(outcome_frame(outcome))
        while data:
            data = data[os.write(self._output, data) :]


def _room_for_bots() -> int:
    """Raise the limit of open files; return the number of bots that it allows."""
    files = raise_open_files()
    return max(1, (files // 2 - _OWN_FILES) // _FILES_A_BOT)  # half is left for meters of time


def _frames(descriptor: int) -> Iterator[bytes]:
    reader = FrameReader()
    while data := os.read(descriptor, _READ):
        yield from reader.feed(data)


def _clean_up(worker: Worker | None, runner: int, *, stopped: bool) -> None:
    """End all bots, even if the signal came while one was being ended.

    The folder for temporary files is shared with other workers. The runner removes it, unless it
    was killed.

    Args:
        worker: The worker of this process, if it got that far.
        runner: The process that started this one.
        stopped: Whether a signal ended this process: the runner's death sends one.
    """
    try:
        if worker is not None:
            worker.kill()
    finally:
        end_unknown_children(set())
        if tempfile.tempdir is not None:
            remove_own()
            if os.getppid() != runner or (stopped and _is_gone(runner)):
                with suppress(OSError):  # other workers may still have files in it
                    Path(tempfile.tempdir).rmdir()


def _is_gone(runner: int) -> bool:
    """Return whether the runner has died, which takes until the last of its threads has ended."""
    end = time.monotonic() + _DYING
    while os.getppid() == runner and time.monotonic() < end:
        time.sleep(0.01)
    return os.getppid() != runner


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, _go_on_ending)
    raise _Stop


def _go_on_ending(_signal: int, _frame: FrameType | None) -> None:
    """Ignore further signals while ending.

    Not SIG_IGN: Python reports a signal that arrived before it was ignored.
    """


def main() -> None:
    """Carry out tasks until stdin ends or SIGTERM arrives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker: Worker | None = None
    runner = os.getppid()
    stopped = True
    try:
        try:
            signal.signal(signal.SIGTERM, _stop)
            die_with_parent(signal.SIGTERM)
            if os.getppid() != runner:
                return
            become_subreaper()
            output = os.dup(1)
            os.dup2(2, 1)  # printed text must not get between the frames
            frames = _frames(0)
            worker = _worker(next(frames), output)
            for frame in frames:
                worker.work(read_task(frame))
            worker.close()
            stopped = False
        finally:
            signal.signal(signal.SIGTERM, _go_on_ending)
    except (_Stop, StopIteration, BrokenPipeError):
        pass
    finally:
        _clean_up(worker, runner, stopped=stopped)


def _worker(frame: bytes, output: int) -> Worker:
    """Set up this process from the first frame; return its worker."""
    setup = read_setup(frame)
    if setup.version != __version__:
        sys.exit(f"this worker is tourney {__version__}, the runner is {setup.version}")
    if setup.cpu is not None:
        os.sched_setaffinity(0, {setup.cpu})
    tempfile.tempdir = setup.temp
    return Worker(setup, output)


if __name__ == "__main__":
    main()
