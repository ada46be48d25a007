"""Processes that try to get out of sight are charged to their bot and end with it.

As root and as an ordinary user, with every backend.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tourney_runner
from tourney_runner.process.cpu_meter import accounting_folder
from tourney_runner.process.sandbox import probe

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ORDINARY = ("setpriv", "--reuid=61182", "--regid=61182", "--clear-groups")
CONFINED = ("bwrap", "landlock", "landlock alone")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A copy of the package that an ordinary user can read."""
    place = Path("/tmp", f"tree-{os.getpid()}")
    package = Path(tourney_runner.__file__).parent
    shutil.copytree(package / "process", place / "tourney_runner/process")
    for name in ("__init__.py", "errors.py", "text.py"):
        shutil.copy(package / name, place / "tourney_runner")
    shutil.copy(HERE / "tree_driver.py", place)
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    yield place
    shutil.rmtree(place)


def seen(place: Path, backend: str, user: str, *meter: str) -> dict[str, Any]:
    """Return the driver's report on a bot; skip where it cannot be tried."""
    for finding in probe():
        if backend.startswith(finding.name) and not finding.works:
            pytest.skip(f"no {backend}: {finding.detail}")
    words = [sys.executable]
    if user == "root" and os.geteuid() != 0:
        pytest.skip("not run as root")
    if user == "user" and os.geteuid() == 0:
        words = [*ORDINARY, "/usr/bin/python3"]
        if subprocess.run([*words, "--version"], check=False, capture_output=True).returncode:
            pytest.skip("no Python that an ordinary user could run")
    ended = subprocess.run(
        [*words, place / "tree_driver.py", backend, *meter],
        env={**os.environ, "PYTHONPATH": str(place), "TMPDIR": str(place / "tmp"), "HOME": "/none"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("user", ["root", "user"])
@pytest.mark.parametrize("backend", [*CONFINED, "limits"])
def test_nothing_that_a_bot_starts_gets_out_of_sight(backend: str, user: str, place: Path) -> None:
    found = seen(place, backend, user)
    for chain in ("orphans", "reaped"):
        used, metered = found[chain]["used"], found[chain]["meter"]
        if metered is not None:
            assert used * 0.9 < metered < used * 1.1
    assert found["orphans"]["proc"] > found["orphans"]["used"] * 0.9
    if backend in CONFINED:
        assert found["daemon is seen"] == 1
        assert found["erased is seen"] == 1
        assert found["daemon is another bot's"] == 0
        assert found["states when stopped"] == ["T"]
        assert found["daemon outlives another bot"] == 1
        assert found["daemon is gone"]


@pytest.mark.parametrize("backend", ["bwrap", "landlock", "limits"])
def test_a_group_of_version_1_counts_everything_that_a_bot_starts(
    backend: str, place: Path
) -> None:
    parent = accounting_folder()
    if parent is None or not os.access(parent, os.W_OK):
        pytest.skip("no control groups of version 1 with cpuacct that these tests may write to")
    found = seen(place, backend, "root", "accounting")
    for chain in ("orphans", "reaped"):
        used, metered = found[chain]["used"], found[chain]["meter"]
        assert used * 0.9 < metered < used * 1.1
