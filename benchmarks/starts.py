"""Starts of bots in a short tournament: what the sizes of blocks cost.

Eight quick Python bots play Tien Len at tables of four with all rotations, on two workers. The same
tournament is played with blocks as they are and with those of version 2 of the rules, which began
with one round and doubled; the runs alternate. Starts exclude the check of each bot before play.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from figures import report
from synthetic import BOTS as BUNDLED
from synthetic import configuration

if TYPE_CHECKING:
    import argparse

BOTS = 8
RANDOM = BUNDLED / "random"
DEALS_A_ROUND = 4 * BOTS
DOUBLING = """
import tourney_runner.run.planner as planner
planner.sizes = lambda tournament, _: planner.Sizes(tournament.matches(0))
"""
BEGIN = "from tourney_runner.cli import main; main()"
WAYS = {"before": DOUBLING + BEGIN, "now": BEGIN}


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    rounds = -(-arguments.deals // DEALS_A_ROUND)
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    tables: set[str] = set()
    for _ in range(arguments.repeats):
        for way, program in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                found[way].append(_run(Path(folder), rounds, program))
                tables.add((Path(folder) / "out" / "standings.json").read_text())
    assert len(tables) == 1, "the results differ"
    figures: dict[str, float] = {}
    for way, runs in found.items():
        for name, values in zip(
            ("starts", "cpu_seconds", "deals_per_second"), zip(*runs, strict=True), strict=True
        ):
            figures[f"{way}_{name}"] = median(values)
    figures["speed_ratio"] = median(
        now[2] / before[2] for before, now in zip(found["before"], found["now"], strict=True)
    )
    figures["cpu_ratio"] = median(
        now[1] / before[1] for before, now in zip(found["before"], found["now"], strict=True)
    )
    return figures


def _run(folder: Path, rounds: int, program: str) -> tuple[float, float, float]:
    """Starts, processor seconds of all processes, and deals a second of the whole program."""
    path = configuration(folder, BOTS, rounds)
    starts = folder / "starts"
    document = json.loads(path.read_text())
    document["bots"] = [_bot(folder / str(number), starts) for number in range(BOTS)]
    path.write_text(json.dumps(document))
    options = ["--out", folder / "out", "--jobs", "2", "--no-sandbox"]
    before, began = _cpu_seconds(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program, "run", path, *options],
        check=True,
        capture_output=True,
    )
    seconds = time.perf_counter() - began
    deals = rounds * DEALS_A_ROUND
    return len(starts.read_text()) - BOTS, _cpu_seconds() - before, deals / seconds


def _bot(folder: Path, starts: Path) -> dict[str, object]:
    """Write a bot that counts its starts; return its entry."""
    folder.mkdir()
    shutil.copy(RANDOM / "tourney_bot.py", folder)
    (folder / "bot.yaml").write_text((RANDOM / "bot.yaml").read_text())
    (folder / "bot.py").write_text(
        "from tourney_bot import run\n"
        f"with open({str(starts)!r}, 'a') as file: file.write('x')\n"
        "run(lambda turn: turn.random.choice(turn.legal), name='quick', legal='all')\n"
    )
    return {"bot": str(folder), "name": f"bot {folder.name}", "trusted": True}


def _cpu_seconds() -> float:
    """Processor time of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    report(measure, __doc__ or "", deals=224, repeats=5)
