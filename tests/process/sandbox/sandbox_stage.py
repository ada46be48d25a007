from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import tourney_runner
from tourney_runner.process.sandbox import probe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


Key = tuple[str, str]

HERE = Path(__file__).parent
ORDINARY = 61183
"""A user that no machine has: its processes are those of the tests, and nobody else's."""
AS_ORDINARY = ("setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups")
SEED = "the-seed-is-4711"


@cache
def works(backend: str) -> str | None:
    """Why a backend cannot be tried here; None if it can."""
    for finding in probe():
        if finding.name == backend and not finding.works:
            return f"no {backend}: {finding.detail}"
    return None


class Stage:
    """Runs the driver as root or as an ordinary user, from a place that both can read."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._temp = place / "tmp"
        self._temp.mkdir()
        self._temp.chmod(0o1777)
        shutil.copytree(
            Path(tourney_runner.__file__).parent / "process",
            place / "tourney_runner/process",
            dirs_exist_ok=True,
        )
        for name in ("__init__.py", "errors.py", "text.py"):
            shutil.copy(Path(tourney_runner.__file__).parent / name, place / "tourney_runner")
        for name in ("sandbox_driver.py", "sandbox_attack.py", "sandbox_probes.py"):
            shutil.copy(HERE / name, place)

    def start(self, user: str, arguments: Sequence[str]) -> subprocess.Popen[str]:
        """Start the driver; skips where there is no such user."""
        become, python = self._become(user)
        return subprocess.Popen(
            [*become, python, str(self._place / "sandbox_driver.py"), *arguments],
            env=os.environ
            | {
                "PYTHONPATH": str(self._place),
                "SANDBOX_TEST_SECRET": SEED,
                "HOME": "/nowhere",
                "TMPDIR": str(self._temp),
            },
            cwd="/",
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _become(self, user: str) -> tuple[list[str], str]:
        if user == "root":
            if os.geteuid() != 0:
                pytest.skip("not run as root")
            return [], sys.executable
        if os.geteuid() != 0:
            return [], sys.executable
        python = open_to_all()
        if python is None:
            pytest.skip("no Python of this release that an ordinary user could run")
        return [*AS_ORDINARY], python


@cache
def open_to_all() -> str | None:
    """An interpreter outside root's home."""
    for python in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        question = "import os, sys; os.stat(sys.executable); sys.exit(sys.version_info < (3, 11))"
        words = [*AS_ORDINARY, python, "-c", question]
        asked = subprocess.run(words, capture_output=True, check=False, cwd="/")
        if asked.returncode == 0:
            return python
    return None


class Reports:
    """Return the reports of the drivers, by backend and user.

    All are started at once, since each waits most of its time.

    Args:
        stage: Where they run.
        jobs: Their arguments; the second is the backend.
    """

    _started: ClassVar[list[Reports]] = []

    def __init__(self, stage: Stage, jobs: Mapping[Key, Sequence[str]]) -> None:
        self._missing: dict[Key, str] = {}
        self._running: dict[Key, subprocess.Popen[str]] = {}
        self._done: dict[Key, Any] = {}
        self._started.append(self)
        for key, arguments in jobs.items():
            backend, user = key
            missing = works(backend)
            try:
                if missing is None:
                    self._running[key] = stage.start(user, arguments)
                else:
                    self._missing[key] = missing
            except pytest.skip.Exception as skip:
                self._missing[key] = str(skip)

    @classmethod
    def close_all(cls) -> None:
        """End the drivers that no test has waited for."""
        for report in cls._started:
            for process in report._running.values():
                if process.returncode is None:
                    process.kill()
                    process.communicate()
        cls._started.clear()

    def of(self, backend: str, user: str) -> Any:
        """One report; waits for it, and skips where it cannot be had."""
        key = (backend, user)
        if key in self._missing:
            pytest.skip(self._missing[key])
        if key not in self._done:
            process = self._running[key]
            out, complaints = process.communicate(timeout=900)
            assert process.returncode == 0, complaints
            self._done[key] = json.loads(out)
        return self._done[key]
