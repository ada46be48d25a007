"""The recipe for cron: it works in cron's environment, and a failure is never silent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import tourney_runner

if TYPE_CHECKING:
    from whole_program import Arena

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "nightly.sh"


def as_cron(arena: Arena) -> subprocess.CompletedProcess[str]:
    """Run the script as cron does: in another folder, with hardly any variables."""
    program = arena.path / "tourney"
    package = Path(tourney_runner.__file__).parents[1]
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} -m tourney_runner "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    shutil.copy(SCRIPT, arena.path / "nightly.sh")
    variables = {
        "HOME": str(arena.path / "home"), "LOGNAME": "organiser", "SHELL": "/bin/sh",
        "PATH": "/usr/bin:/bin", "TOURNEY": str(program),
        "TOURNEY_CACHE": str(arena.path / "cache"),
    }  # fmt: skip
    return subprocess.run(
        ["/bin/sh", arena.path / "nightly.sh"], cwd="/", env=variables, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_news_is_printed_once_and_failures_each_time(arena: Arena) -> None:
    failed = as_cron(arena)
    assert failed.returncode == 2
    assert "tourney season failed with status 2" in failed.stdout
    assert "expected one configuration in this folder" in failed.stdout

    arena.configure([arena.bot("one"), arena.bot("two")], file="league.yaml", name="Cup")
    first = as_cron(arena)
    assert first.returncode == 0, first
    assert "Cup, season 1" in first.stdout
    assert "leads" in first.stdout
    again = as_cron(arena)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
