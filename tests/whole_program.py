"""The real program on small bots written for a test, in a process of its own or in the test's.

Most runs are in the test's process, which saves the start of Python and all imports: two thirds of
the time of a small tournament. Its workers and bots are processes as ever.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import yaml
from tourney_runner.cli.app import run_command
from tourney_runner.process.procfs import children, state_and_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["BOTS", "CONFIGS", "NAP", "TOURNEY", "Arena", "Ended", "arena", "in_process", "until"]

ROOT = Path(__file__).parents[1]
BOTS = ROOT / "bots"
CONFIGS = ROOT / "configs"
TOURNEY = [sys.executable, "-m", "tourney_runner"]

PATIENCE = 120.0
"""Seconds after which a test gives up; far more than anything here takes."""

NAP = "time.sleep(0.01)"
"""Code that slows a bot down, so that a run lasts long enough to be disturbed."""

_MARK = "WHOLE_PROGRAM_TEST"

_BOT = """\
import json, os, signal, sys, time, zlib
answers = 0
{first}
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        limits = message["limits"]
        {hello}
        print(json.dumps({{"type": "ready", "legal": "all"}}), flush=True)
    elif kind == "deal":
        deal = message
        {deal}
    elif kind == "result":
        {result}
    elif kind == "move":
        answers += 1
        legal = message["legal"]
        # A choice that looks random and depends on nothing but the position.
        luck = zlib.crc32(json.dumps([message["view"], legal], sort_keys=True).encode())
        answer = legal[luck % len(legal)]
        {move}
        print(json.dumps({{"id": message["id"], **answer}}), flush=True)
{last}
"""


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait for something to become true, and give it."""
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, "this never came true"
        time.sleep(0.02)
    return value


@dataclass(frozen=True)
class Ended:
    """A program that is over."""

    status: int
    stdout: str
    stderr: str


def in_process(words: Sequence[object], folder: Path, environment: dict[str, str]) -> Ended:
    """Run a command of the program in this process, without a terminal."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(tempfile, "tempdir", None),  # it is where TMPDIR says
        patch.object(sys, "argv", ["tourney", *map(str, words)]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(), "utf-8")),
        chdir(folder),
        _patience(),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
    ):
        status = run_command()
    texts = [stream.buffer.getvalue().decode() for stream in streams]  # type: ignore[attr-defined]
    return Ended(status, *texts)


@contextmanager
def _patience() -> Iterator[None]:
    """Give up what takes too long, and restore what a run sets for its whole process."""

    def give_up(*_: object) -> None:
        raise AssertionError("it did not end")

    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    handler = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_NOFILE, files)


@dataclass
class Arena:
    """A folder with bots, a configuration, and everything that the program leaves.

    Args:
        path: The folder, empty.
    """

    path: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    _started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("bots", "tmp", "home"):
            (self.path / name).mkdir(parents=True)

    @property
    def temp(self) -> Path:
        """The folder for temporary files of the program and the bots."""
        return self.path / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        """The program's environment."""
        kept = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.path / "home"),
            "TMPDIR": str(self.temp),
            "TOURNEY_CACHE": str(self.path / "cache"),
            _MARK: self.mark,
        }

    def bot(self, name: str, *, base: str = _BOT, **pieces: str) -> dict[str, Any]:
        """Write a quick bot and give its entry.

        Args:
            name: Of the entrant.
            base: The whole program.
            pieces: Statements at the places that `_BOT` has for them.
        """
        places = dict.fromkeys(("first", "hello", "deal", "result", "move", "last"), "pass")
        indents = {"first": 0, "last": 0}
        for place, text in pieces.items():
            piece = textwrap.dedent(text).strip()
            places[place] = (
                textwrap.indent(piece, 8 * " ").strip() if place not in indents else piece
            )
        folder = self.path / "bots" / f"{len(list((self.path / 'bots').iterdir()))}"
        folder.mkdir()
        (folder / "bot.py").write_text(base.format(**places), encoding="utf-8")
        return {
            "name": name,
            "command": ["{python}", "-E", "-S", "bot.py"],
            "cwd": str(folder),
            "env": {_MARK: self.mark},
            "trusted": True,
        }

    def bundled(self, folder: str, name: str) -> dict[str, Any]:
        """The entry of a bot that comes with the program."""
        return {
            "bot": str(BOTS / folder),
            "name": name,
            "env": {_MARK: self.mark},
            "trusted": True,
        }

    def configure(
        self, bots: Sequence[dict[str, Any]], *, file: str = "cup.yaml", **keys: Any
    ) -> Path:
        """Write a configuration; what is left out suits a quick test of two at a table."""
        document = {
            "game": "tienlen",
            "seed": 1,
            "rules": {"players": 2},
            "bots": list(bots),
            "schedule": {"rounds": 1},
            "time": {"start": "60s", "move": "60s"},
            "sandbox": "limits",  # bots of tests tell of themselves in files of the arena
            **keys,
        }
        path = self.path / file
        path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
        return path

    def start(
        self, *words: object, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start the program in the arena's folder."""
        process = subprocess.Popen(
            [*TOURNEY, *map(str, words)],
            **{
                "cwd": self.path,
                "env": self.environment | (env or {}),
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "encoding": "utf-8",
                **options,
            },
        )
        self._started.append(process)
        return process

    def run(
        self,
        *words: object,
        status: int | None = 0,
        env: dict[str, str] | None = None,
        **options: Any,
    ) -> Ended:
        """Run the program to its end, in this process where that makes no difference.

        A run ends all children of its process, whoever started them, so beside others it has a
        process of its own. So has one with variables or options that are for a new process, and
        one with Dask, whose threads would stay.

        Args:
            words: Of its command line.
            status: That it must end with; None for any.
            env: More variables.
            options: For `subprocess.Popen`.
        """
        if options or env or "--dask" in words or not self._is_alone():
            return self.end(self.start(*words, env=env, **options), status)
        return self._checked(in_process(words, self.path, self.environment), status)

    def _is_alone(self) -> bool:
        """Whether no child of this process is alive.

        Orphans that it was left by killed programs may wait here to be collected: a run does that.
        """
        for process in self._started:
            process.poll()
        return all(state_and_session(pid)[0] in {"Z", ""} for pid in children(os.getpid()))

    def call(self, *words: object, status: int = 0) -> Ended:
        """Run a command in this process: one that starts no other and needs no terminal."""
        return self._checked(in_process(words, self.path, self.environment), status)

    @staticmethod
    def _checked(ended: Ended, status: int | None) -> Ended:
        assert status is None or ended.status == status, ended
        # One of a bot's own is indented.
        assert not re.search("^Traceback", ended.stderr, re.MULTILINE), ended.stderr
        return ended

    def end(self, process: subprocess.Popen[str], status: int | None = 0) -> Ended:
        """Wait for a program that `start` gave."""
        try:
            stdout, stderr = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            raise AssertionError(f"it did not end; stderr:\n{stderr}") from None
        return self._checked(Ended(process.returncode, stdout, stderr), status)

    def table(self, out: str = "out") -> dict[str, Any]:
        """The ranking that a run left."""
        found: dict[str, Any] = json.loads((self.path / out / "standings.json").read_text("utf-8"))
        return found

    def rows(self, out: str = "out") -> dict[str, dict[str, Any]]:
        """The rows of the ranking, by name."""
        return {row["name"]: row for row in self.table(out)["entrants"]}

    def deals(self, out: str = "out") -> int:
        """Return the number of stored deals, also during a run."""
        path = self.path / out / "results.sqlite"
        try:
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        except sqlite3.Error:
            return 0
        try:
            return int(db.execute("SELECT count(*) FROM deals").fetchone()[0])
        except sqlite3.Error:  # it is just being made
            return 0
        finally:
            db.close()

    def files(self, out: str = "out") -> dict[str, str]:
        """The tables that must be the same wherever and however a tournament is played."""
        names = ("standings.json", "standings.csv", "standings.md")
        return {name: (self.path / out / name).read_text("utf-8") for name in names}

    def logs(self, out: str = "out") -> str:
        """All bots' logs."""
        paths = sorted((self.path / out / "logs").iterdir())
        return "".join(path.read_text("utf-8") for path in paths)

    def processes(self) -> dict[int, str]:
        """All processes of this arena, the program's and the bots', with their commands."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if f"{_MARK}={self.mark}".encode() in environment:
                found[int(entry.name)] = command
        return found

    def workers(self) -> list[int]:
        """The processes that play."""
        return [
            pid
            for pid, command in self.processes().items()
            if "tourney_runner.run.worker" in command
        ]

    def is_clean(self) -> bool:
        """Return whether no process and no temporary file of the program is left."""
        return not self.processes() and not list(self.temp.iterdir())

    def close(self) -> None:
        """End whatever a failed test has left."""
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        for process in self._started:
            if process.returncode is None:
                process.communicate()


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """An empty arena; nothing of it is left running after the test."""
    arena = Arena(tmp_path)
    yield arena
    arena.close()
