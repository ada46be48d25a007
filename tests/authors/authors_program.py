"""The real program, run as authors run it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import pexpect
import pytest

__all__ = ["BOTS", "ROOT", "Program", "needs_git"]

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "bots"
TOURNEY = (sys.executable, "-m", "tourney_runner")

needs_git = pytest.mark.skipif(which("git") is None, reason="git is not installed")


@dataclass(frozen=True)
class Program:
    """The real program, in a folder of its own."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run it to its end, without a terminal."""
        return subprocess.run(
            [*TOURNEY, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def at_a_terminal(self, *words: object) -> pexpect.spawn[str]:
        """Start it as a person does."""
        command, *arguments = [*TOURNEY, *map(str, words)]
        return pexpect.spawn(
            command,
            arguments,
            cwd=str(self.folder),
            env={**self.environment, "TERM": "xterm-256color"},  # type: ignore[arg-type]
            encoding="utf-8",
            dimensions=(60, 120),
            timeout=60,
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path
