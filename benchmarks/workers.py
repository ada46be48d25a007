"""The gain from more workers: deals a second of one, of several, and of several on Dask.

Python bots at tables of four play Tien Len. Speed and processor time are those of the middle of a
run, from one deal in ten to nine; the time is that of all processes, bots included. Figures with
``_ratio`` are multiples of one worker's in the same run. On a machine with other work the speeds
say little, and processor time says whether workers hinder each other.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from figures import report
from program import TOURNEY, cpu_seconds, stored_deals
from synthetic import configuration

if TYPE_CHECKING:
    import argparse

BOTS = 8
DEALS_A_ROUND = 4 * BOTS


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    jobs = arguments.jobs
    ways = {"one_worker": ["--jobs", "1"], f"{jobs}_workers": ["--jobs", str(jobs)]}
    if find_spec("distributed") is not None:
        ways[f"{jobs}_workers_on_dask"] = ["--jobs", str(jobs), "--dask", "local"]
    figures: dict[str, float] = {}
    rounds = -(-arguments.deals // DEALS_A_ROUND)
    for way, options in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            speed, cpu = _run(Path(folder), rounds, options)
        figures[f"{way}_deals_per_second"] = speed
        figures[f"{way}_cpu_ms_a_deal"] = cpu
        figures[f"{way}_speed_ratio"] = speed / figures["one_worker_deals_per_second"]
        figures[f"{way}_cpu_ratio"] = cpu / figures["one_worker_cpu_ms_a_deal"]
    return figures


def _run(folder: Path, rounds: int, options: list[str]) -> tuple[float, float]:
    """Deals a second, and processor milliseconds a deal."""
    out = folder / "out"
    total = rounds * DEALS_A_ROUND
    process = subprocess.Popen(
        [*TOURNEY, "run", configuration(folder, BOTS, rounds), "--out", out, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    first = _once_there(process, out, total // 10)
    last = _once_there(process, out, total * 9 // 10)
    process.communicate()
    assert process.returncode == 0
    deals, seconds, cpu = (after - before for before, after in zip(first, last, strict=True))
    return deals / seconds, cpu / deals * 1e3


def _once_there(
    process: subprocess.Popen[bytes], out: Path, deals: int
) -> tuple[int, float, float]:
    """Wait for a number of deals; return their number, the time, and the CPU time."""
    while (there := stored_deals(out)) < deals:
        assert process.poll() is None
        time.sleep(0.05)
    return there, time.perf_counter(), cpu_seconds(process.pid)


if __name__ == "__main__":
    report(measure, __doc__ or "", deals=3200, jobs=2)
