"""A measurement of ``tourney plan``: the share of runs whose duration is within the range.

Each case is planned and then played on the same machine: small and larger fields, quick bots and
bots that think, one worker and several. The range is meant to hold four of five durations, and a
good estimate holds 18 of these 20. Other work on the machine between the steps spoils the figure.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml
from figures import report
from program import TOURNEY

if TYPE_CHECKING:
    import argparse

__all__ = ["Case", "cases", "measure", "range_of"]

_UNITS = {"s": 1, "min": 60, "h": 3600, "day": 86_400, "days": 86_400}
_BOT = """\
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready", "legal": "canonical"}}), flush=True)
    elif message["type"] == "move":
        time.sleep({seconds})
        print(json.dumps({{"id": message["id"], **message["legal"][0]}}), flush=True)
"""


class Case(NamedTuple):
    """One tournament to plan and to play."""

    bots: int
    rounds: int
    seconds: float
    """The time that a bot thinks about each move."""
    jobs: int


def cases() -> list[Case]:
    """Return the twenty cases."""
    fields = [(4, 10), (6, 6), (9, 4), (16, 2), (25, 1)]
    return [
        Case(bots, rounds, seconds, jobs)
        for (bots, rounds), (seconds, jobs) in product(
            fields, [(0.0, 1), (0.0, 2), (0.001, 1), (0.002, 2)]
        )
    ]


def range_of(plan: str) -> tuple[float, float]:
    """Return the range of a plan, in seconds.

    Raises:
        ValueError: The plan has none.
    """
    found = re.search(r"duration: (.+) to (.+) \(80 % range", plan)
    if found is None:
        raise ValueError(f"no range of the duration in:\n{plan}")
    low, high = (_seconds(text) for text in found.groups())
    return low, high


def _seconds(text: str) -> float:
    parts = re.findall(r"([\d.]+) (\w+)", text.replace(",", ""))
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the number of cases, and of those in which the range held."""
    held = 0
    chosen = cases()[: arguments.cases]
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            low, high, taken = _one(Path(folder), case)
        held += low <= taken <= high
        print(f"{case}: {low:g} to {high:g} s planned, {taken:.1f} s taken", flush=True)
    return {"cases": len(chosen), "held": held}


def _one(folder: Path, case: Case) -> tuple[float, float, float]:
    """Plan and play a case; return the range and the duration, in seconds."""
    for number in range(case.bots):
        (folder / f"b{number}").mkdir()
        (folder / f"b{number}" / "bot.py").write_text(_BOT.format(seconds=case.seconds))
        manifest = {"name": f"bot {number}", "command": ["{python}", "bot.py"]}
        (folder / f"b{number}" / "bot.yaml").write_text(yaml.safe_dump(manifest))
    config = {
        "game": "tienlen",
        "seed": 1,
        "bots": [{"bot": f"b{number}", "trusted": True} for number in range(case.bots)],
        "schedule": {"rounds": case.rounds},
    }
    (folder / "cup.yaml").write_text(yaml.safe_dump(config))
    words = [folder / "cup.yaml", "--jobs", str(case.jobs), "--out", folder / "out"]
    plan = subprocess.run(
        [*TOURNEY, "plan", *words], check=True, capture_output=True, text=True
    ).stdout
    began = time.monotonic()
    subprocess.run([*TOURNEY, "run", *words], check=True, capture_output=True)
    return *range_of(plan), time.monotonic() - began


if __name__ == "__main__":
    report(measure, __doc__ or "", cases=20)
