"""Workers of which nothing is heard."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from tourney_runner.run.watchdog import END_AFTER, REPORT_EVERY, Silence
from whole_program import NAP, until

if TYPE_CHECKING:
    from whole_program import Arena

STEP = 0.5


def _looks(silence: Silence, seconds: float) -> tuple[list[int], bool]:
    """Return when a silence that begins at 100 s was reported, and whether the worker was lost."""
    silence.restart(100.0)
    sights = [silence.check(100.0 + STEP * number) for number in range(int(seconds / STEP) + 1)]
    return [round(report.seconds) for report in sights if report.due], sights[-1].lost


def test_a_silence_is_told_of_once_in_a_while() -> None:
    assert _looks(Silence(), 3.5 * REPORT_EVERY) == ([15, 30, 45], False)


def test_a_worker_that_stays_silent_is_lost() -> None:
    assert not _looks(Silence(), END_AFTER - 1)[1]
    assert _looks(Silence(), END_AFTER)[1]


def test_a_sign_of_life_ends_the_silence() -> None:
    silence = Silence()
    _looks(silence, END_AFTER - 1)
    assert _looks(silence, 1.0) == ([], False)


def test_time_in_which_nobody_looked_does_not_count() -> None:
    """The machine may sleep, for example."""
    silence = Silence()
    silence.restart(100.0)
    report = silence.check(100.0 + 10 * END_AFTER)
    assert not report.due
    assert not report.lost


def test_a_stopped_worker_is_named_and_the_run_goes_on_with_it(arena: Arena) -> None:
    bots = [arena.bot(name, move=NAP) for name in ("one", "two")]
    config = arena.configure(bots, schedule={"rounds": 3})
    process = arena.start("run", config, "--out", "out", "--jobs", 1)
    until(arena.deals)
    [worker] = arena.workers()
    os.kill(worker, signal.SIGSTOP)
    assert process.stderr is not None
    line = until(lambda: _line_with("has been silent", process.stderr))
    os.kill(worker, signal.SIGCONT)
    assert f"worker {worker} has been silent for 15 s while playing round" in line
    arena.end(process)
    assert arena.table()["complete"]
    assert arena.is_clean()


def _line_with(words: str, lines: object) -> str:
    line = next(iter(lines), "")  # type: ignore[call-overload] # a stream of text
    return line if words in line else ""
