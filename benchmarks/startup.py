"""The time of a start: of the program, and of a run with many Python bots until its first deal.

Figures with ``_ratio`` are multiples of starting ``python -c pass`` in the same run, for a run with
many bots of starting it once for each of them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from figures import report
from program import TOURNEY, stored_deals
from synthetic import configuration

if TYPE_CHECKING:
    import argparse

_TIMES = 7


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    python = _seconds([sys.executable, "-c", "pass"])
    figures = {"python_ms": python * 1e3}
    for option in ("--version", "--help"):
        name = option.removeprefix("--")
        figures[f"{name}_ms"] = _seconds([*TOURNEY, option]) * 1e3
        figures[f"{name}_ratio"] = figures[f"{name}_ms"] / figures["python_ms"]
    for again in ("first", "second"):
        with tempfile.TemporaryDirectory() as folder:
            seconds = _first_deal(Path(folder), arguments.bots)
        figures[f"{again}_run_of_{arguments.bots}_bots_s"] = seconds
        figures[f"{again}_run_of_{arguments.bots}_bots_ratio"] = seconds / arguments.bots / python
    return figures


def _seconds(command: list[str]) -> float:
    """Return the median of some starts."""
    taken = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - began)
    return median(taken)


def _first_deal(folder: Path, bots: int) -> float:
    """Return the seconds from the start of a run until its first deal is stored."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [*TOURNEY, "run", configuration(folder, bots, 1), "--out", folder / "out"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not stored_deals(folder / "out"):
            assert process.poll() is None
            time.sleep(0.02)
        return time.perf_counter() - began
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    report(measure, __doc__ or "", bots=200)
