"""The cost of results by number of deals: storing, reading, rating, the table, continuing, memory.

Deals are drawn, not played (see synthetic.py); everything else is the program itself. Figures with
``_ratio`` are multiples of one call of the package ``trueskill`` for a table of four, in the same
run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import trueskill
from figures import cpu_us, report
from program import TOURNEY, stored_deals
from synthetic import configuration, until_first_task
from tourney_runner.ratings.standings import standings
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    import argparse

    from tourney_runner.ratings.raters import Update

HERE = Path(__file__).parent
DEALS_A_MATCH = 4
LEFT = 40
"""Deals that are left to be played, so that there is something to find when it is continued."""
_SAMPLE = 20_000


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    figures = {"trueskill_us": _reference()}
    unit = figures["trueskill_us"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        _begin(folder, out, arguments.bots)
        size = 10_000
        while size <= arguments.deals:
            filled = _fill(folder, out, arguments.bots, size)
            figures[f"{size}_filling_parent_mib"] = filled
            figures |= {f"{size}_{key}": value for key, value in _table(out, unit, size).items()}
            figures[f"{size}_continuing_cpu_s"] = until_first_task(folder / "synthetic.yaml", out)
            size *= 10
        figures["bytes_a_deal"] = (out / FILE_NAME).stat().st_size / (size / 10)
        figures |= _parts(out, unit)
    return figures


def _reference() -> float:
    """Return the CPU microseconds of the package's own rating of four players."""
    rating = trueskill.TrueSkill(draw_probability=0.01, tau=0.0)
    table = [(rating.create_rating(25 + seat),) for seat in range(4)]
    return cpu_us(lambda: rating.rate(table), 200)


def _begin(folder: Path, out: Path, bots: int) -> None:
    """Begin a tournament for real, so that everything is stored that a run stores."""
    configuration(folder, bots, 1)
    _first_deals(folder, out)


def _fill(folder: Path, out: Path, bots: int, deals: int) -> float:
    """Store deals up to a number; return the largest memory of the process that did it (MiB)."""
    rounds = -(-deals // (bots * DEALS_A_MATCH))
    config = configuration(folder, bots, rounds)
    return _run([sys.executable, HERE / "synthetic.py", config, out, str(LEFT)])[1]


def _run(command: list[object]) -> tuple[float, float]:
    """Return the CPU seconds and the largest memory (MiB) of a program."""
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _table(out: Path, unit: float, deals: int) -> dict[str, float]:
    seconds, memory = _run([*TOURNEY, "standings", out])
    return {
        "standings_cpu_s": seconds,
        "standings_ratio": seconds / deals * 1e6 / unit,
        "standings_mib": memory,
    }


def _parts(out: Path, unit: float) -> dict[str, float]:
    """Return the CPU microseconds a deal of reading, and of counting and rating."""
    with closing(Store(out / FILE_NAME)) as store:
        began = time.process_time()
        deals = list(islice(store.records(), _SAMPLE))
        reading = (time.process_time() - began) / len(deals) * 1e6
        names = store.tournament().names
    figures = {"reading_us": reading, "reading_ratio": reading / unit}
    updates: tuple[Update, ...] = ("sequential", "order_free")
    for update in updates:
        began = time.process_time()
        standings(names, deals, update=update)
        rating = (time.process_time() - began) / len(deals) * 1e6
        figures |= {f"{update}_us": rating, f"{update}_ratio": rating / unit}
    return figures


def _first_deals(folder: Path, out: Path) -> None:
    """Play for real until something is stored."""
    before = stored_deals(out)
    process = subprocess.Popen(
        [*TOURNEY, "run", folder / "synthetic.yaml", "--out", out, "--jobs", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while stored_deals(out) == before:
            assert process.poll() is None
            time.sleep(0.2)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    report(measure, __doc__ or "", deals=100_000, bots=10)
