"""The ratios of the benchmarks by commit, and a comparison of two commits.

`record` measures the ratios of `rules.py`, `moves.py` and `peers.py` and adds them to
`history.jsonl`: one line with the commit, the date, the machine and the ratios. Machines differ, so
only ratios are kept; on a busy machine only those of processor time.

`compare OLD NEW` checks both commits out and runs one script of each in turn, so that a change of
the machine's pace meets both. It prints the median of new / old over the pairs and an upper bound
of it, at 95 %: the order statistic that exceeds the median of such pairs with that probability,
whatever their distribution. At least five pairs are needed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from math import comb
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"
SCRIPTS = {"rules.py": ["--moves", "3000"], "moves.py": ["--stretches", "4"],
           "peers.py": ["--stretches", "6"]}  # fmt: skip
"""The recorded scripts, with sizes for some minutes."""
CONFIDENCE = 0.95
FEWEST_PAIRS = 5


def upper_bound(ratios: Sequence[float]) -> float:
    """Return an upper 95 % bound of the median of the distribution of some ratios.

    Raises:
        ValueError: There are too few ratios.
    """
    pairs = len(ratios)
    below = 0.0
    for place, ratio in enumerate(sorted(ratios)):
        below += comb(pairs, place) / 2**pairs
        if below >= CONFIDENCE:
            return ratio
    raise ValueError(f"{pairs} pairs are too few, expected at least {FEWEST_PAIRS}")


def figures_of(script: str, root: Path, sizes: Sequence[str]) -> dict[str, float]:
    """Return the figures of one run of a checkout's script."""
    # The package lay at the top of the checkout before it moved to `runner/`.
    folders = os.pathsep.join((str(root / "runner"), str(root)))
    environment = {**os.environ, "PYTHONPATH": folders}
    command = [sys.executable, str(root / "benchmarks" / script), "--json", *sizes]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, cwd=root)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def machine() -> dict[str, str | int]:
    """Return what distinguishes this machine."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def git(*words: str) -> str:
    """Run git in this repository and return its output."""
    command = ["git", "-C", str(HERE), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def record() -> None:
    """Measure, and add a line to the history."""
    if git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("there are uncommitted changes: the figures would belong to no commit")
    is_busy = os.getloadavg()[0] > len(os.sched_getaffinity(0))
    ratios = {
        f"{script.removesuffix('.py')}.{name}": round(value, 3)
        for script, sizes in SCRIPTS.items()
        for name, value in figures_of(script, HERE.parent, sizes).items()
        if name.endswith("_ratio") and not (is_busy and name.endswith("_time_ratio"))
    }
    entry = {
        "commit": git("rev-parse", "--short=12", "HEAD"),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "ratios": ratios,
    }
    with HISTORY.open("a", encoding="utf-8") as history:
        history.write(json.dumps(entry) + "\n")
    print(json.dumps(entry, indent=2))


def pairs(
    script: str, sizes: Sequence[str], roots: tuple[Path, Path], count: int
) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Run the script of two checkouts in turn, the second one first in every other pair."""
    old, new = roots
    for number in range(count):
        if number % 2:
            after = figures_of(script, new, sizes)
            yield figures_of(script, old, sizes), after
        else:
            before = figures_of(script, old, sizes)
            yield before, figures_of(script, new, sizes)


def compare(arguments: argparse.Namespace, sizes: Sequence[str]) -> None:
    """Print the ratios of the figures of two commits."""
    if arguments.pairs < FEWEST_PAIRS:
        sys.exit(f"{arguments.pairs} pairs are too few, expected at least {FEWEST_PAIRS}")
    with tempfile.TemporaryDirectory() as folder:
        roots = Path(folder, "old"), Path(folder, "new")
        try:
            for root, commit in zip(roots, (arguments.old, arguments.new), strict=True):
                git("worktree", "add", "--detach", str(root), commit)
            found = [*pairs(arguments.script, sizes, roots, arguments.pairs)]
        finally:
            for root in roots:
                if root.exists():
                    git("worktree", "remove", "--force", str(root))
    names = [name for name in found[0][0] if name in found[0][1]]
    print(f"{'new / old':50} {'median':>8} {'at most':>8}")
    for name in names:
        ratios = [after[name] / before[name] for before, after in found if before[name]]
        if len(ratios) >= FEWEST_PAIRS:
            print(f"{name:50} {median(ratios):8.3f} {upper_bound(ratios):8.3f}")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record", help="measure this commit and add it to history.jsonl")
    two = commands.add_parser("compare", help="compare two commits; more options go to the script")
    two.add_argument("old", help="a commit")
    two.add_argument("new", help="a commit")
    two.add_argument("--script", default="rules.py", help="default: rules.py")
    two.add_argument("--pairs", type=int, default=10, help="default: 10")
    arguments, sizes = parser.parse_known_args()
    if arguments.command == "record":
        record()
    else:
        compare(arguments, sizes)


if __name__ == "__main__":
    main()
