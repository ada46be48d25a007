"""The program's commands, run as authors run them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import pexpect
import pytest
from whole_program import TOURNEY, in_process

__all__ = ["BOTS", "ROOT", "Program", "needs_git"]

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "bots"

needs_git = pytest.mark.skipif(which("git") is None, reason="git is not installed")


@dataclass(frozen=True)
class Program:
    """The program in a folder of its own."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run a command in this process, without a terminal."""
        ended = in_process(words, self.folder, self.environment)
        return subprocess.CompletedProcess(words, ended.status, ended.stdout, ended.stderr)

    def program(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run the whole program to its end, without a terminal."""
        return subprocess.run(
            [*TOURNEY, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def at_a_terminal(
        self, *words: object, term: str = "xterm-256color", columns: int = 120
    ) -> pexpect.spawn[str]:
        """Start it as a person does."""
        command, *arguments = [*TOURNEY, *map(str, words)]
        environment = {**self.environment, "TERM": term}
        if columns != 120:
            environment["COLUMNS"] = str(columns)
        return pexpect.spawn(
            command,
            arguments,
            cwd=str(self.folder),
            env=environment,  # type: ignore[arg-type]
            encoding="utf-8",
            dimensions=(60, columns),
            timeout=60,
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path
