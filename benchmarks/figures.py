"""Shared parts of the benchmarks: their command line, a yardstick, the output of figures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cpu_us", "report", "show", "yardstick"]

_MESSAGE = {
    "type": "move",
    "id": 7,
    "hand": ["3S", "4C", "4D", "6H", "8S", "9C", "TD", "JH", "QS", "KC", "AD", "2H"],
    "table": {"seat": 2, "play": ["5C", "5D"]},
    "counts": [12, 9, 13, 4],
    "history": [{"seat": seat % 4, "play": [f"{seat}S", f"{seat}D"]} for seat in range(4, 10)],
}


def cpu_us(work: Callable[[], object], times: int, repeats: int = 5) -> float:
    """Return the CPU microseconds of one call, the median of some repeats."""
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        for _ in range(times):
            work()
        spent.append((time.process_time() - began) / times * 1e6)
    return median(spent)


def yardstick() -> float:
    """Return the CPU microseconds of a JSON round trip of a request of some 400 bytes.

    Other figures are multiples of it, since machines differ and change their pace.
    """
    return cpu_us(lambda: json.loads(json.dumps(_MESSAGE)), 2000)


def report(
    measure: Callable[[argparse.Namespace], dict[str, float]], about: str, **sizes: int
) -> None:
    """Measure as the command line says, and print.

    Args:
        measure: Returns the figures by name.
        about: For ``--help``.
        sizes: Options that are numbers, with their defaults.
    """
    parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")
    parser.add_argument("--json", action="store_true", help="to compare two versions")
    arguments = parser.parse_args()
    show(measure(arguments), as_json=arguments.json)


def show(figures: dict[str, float], *, as_json: bool) -> None:
    """Print figures for people, or to compare two versions."""
    if as_json:
        json.dump(figures, sys.stdout, indent=2)
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:{width}} {value:12,.2f}")
