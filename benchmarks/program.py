"""Shared parts of the benchmarks that run programs."""

from __future__ import annotations

import os
import sys
from contextlib import closing, suppress
from pathlib import Path

from tourney_runner.errors import TourneyError
from tourney_runner.process.process_tree import descendants
from tourney_runner.results.store import FILE_NAME, Store

__all__ = ["TOURNEY", "cpu_seconds", "stored_deals"]

TOURNEY = [sys.executable, "-m", "tourney_runner"]


def stored_deals(out: Path) -> int:
    """Return the number of deals in a folder of results, also while it is being written."""
    try:
        with closing(Store(out / FILE_NAME)) as store:
            return store.count()
    except TourneyError:  # it is not there, or being made
        return 0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its descendants, also ended ones, in steps of 10 ms."""
    ticks = 0
    for process in (pid, *descendants(pid)):
        with suppress(OSError):  # it has just ended
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
