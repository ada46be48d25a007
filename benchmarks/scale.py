"""The cost of a very large field: a Swiss system and a ladder of trivial C bots, and one scheduler.

Each tournament is played by the whole program, with one deal a match: all bots are started once,
the rounds are planned and played, the bots rated, the site written. Then the site is written by
itself. `_mib` is the largest memory of the runner's own process.

Then one dispatcher hands out the chunks of a Swiss system to 100 stub workers that answer at once
with stored outcomes. Its CPU by chunk and by deal says how many workers it can keep busy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from figures import report, yardstick
from moves import build
from program import TOURNEY
from synthetic import dispatched, until_first_task
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    import argparse

FORMATS = ("swiss", "ladder")
_MIB = 1024


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    figures = {"json_round_trip_us": yardstick()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bot = folder / "bot"
        bot.mkdir()
        build(str(bot))
        (bot / "bot.yaml").write_text('name: trivial\ncommand: ["./bot"]\n')
        for format_name in FORMATS:
            for key, value in _tournament(folder, format_name, arguments).items():
                figures[f"{format_name}_{key}"] = value
            figures |= _dispatching(folder, format_name, arguments)
            print(f"{format_name}: done", file=sys.stderr)
    return figures


def _configuration(folder: Path, format_name: str, bots: int, rounds: int) -> Path:
    path = folder / f"{format_name}.yaml"
    document = {
        "game": "tienlen",
        "seed": 1,
        "bots": [
            {"bot": "bot", "name": f"bot {number}", "trusted": True} for number in range(bots)
        ],
        "schedule": {"format": format_name, "rounds": rounds},
        "match": {"duplicate": False, "deals": 1},
        "time": {"start": "60s", "move": "60s"},
        "sandbox": "off",
    }
    path.write_text(json.dumps(document))
    return path


def _tournament(folder: Path, format_name: str, arguments: argparse.Namespace) -> dict[str, float]:
    config = _configuration(folder, format_name, arguments.bots, arguments.rounds)
    out = folder / format_name
    figures = {}
    spent, memory = _run([*TOURNEY, "run", config, "--out", out])
    figures["run_cpu_s"], figures["run_mib"] = spent, memory
    with closing(Store(out / FILE_NAME)) as store:
        deals = store.count()
    figures["deals"] = deals
    figures["cpu_ms_a_deal"] = spent / deals * 1e3
    figures["continued_cpu_s"], figures["continued_mib"] = _run(
        [*TOURNEY, "run", config, "--out", out]
    )
    figures["standings_cpu_s"], figures["standings_mib"] = _run([*TOURNEY, "standings", out])
    shutil.rmtree(out / "site")
    figures["publish_cpu_s"], figures["publish_mib"] = _run([*TOURNEY, "publish", out])
    pages = [path for path in (out / "site").rglob("*") if path.is_file()]
    figures["site_files"] = len(pages)
    figures["site_mib"] = sum(path.stat().st_size for path in pages) / _MIB**2
    figures["first_page_kib"] = (out / "site" / "index.html").stat().st_size / _MIB
    return figures


def _run(command: list[object]) -> tuple[float, float]:
    """Return CPU seconds with all children, and the largest memory (MiB), of a program."""
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(errors.decode(errors="replace")[-2000:])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / _MIB


def _dispatching(folder: Path, format_name: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Measure the dispatcher with stub workers, for slow and for quick bots."""
    figures = {}
    more = _configuration(folder, format_name, arguments.bots, arguments.rounds + 4)
    for milliseconds in (500, 5):  # that each deal seems to take
        copied = folder / f"{format_name} {milliseconds}"
        shutil.copytree(folder / format_name, copied)
        before = until_first_task(more, copied)
        began = time.process_time()
        chunks, deals = dispatched(
            more, copied, slots=arguments.workers, seconds_a_deal=milliseconds / 1e3
        )
        spent = time.process_time() - began - before
        key = f"{format_name}_dispatcher_{milliseconds}_ms_deals"
        figures[f"{key}_chunks"] = chunks
        figures[f"{key}_cpu_ms_a_chunk"] = spent / chunks * 1e3
        figures[f"{key}_cpu_us_a_deal"] = spent / deals * 1e6
    return figures


if __name__ == "__main__":
    report(measure, __doc__ or "", bots=5000, rounds=2, workers=100)
