"""Temporary folders of processes that were killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tourney_runner.process.folder_tree import make_temp, remove_left_behind, remove_tree

_MAKE = """
import os
from tourney_runner.process.folder_tree import make_temp
print(make_temp("bot"))
"""


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of this process's temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def _of_a_dead_process(temp: Path, ending: str = "os.kill(os.getpid(), 9)") -> Path:
    env = os.environ | {"TMPDIR": str(temp)}
    made = subprocess.run(
        [sys.executable, "-uc", f"{_MAKE}\n{ending}"],
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    return Path(made.stdout.strip())


def test_only_folders_of_dead_processes_are_left_behind(temp: Path) -> None:
    ours, dead = make_temp("run"), _of_a_dead_process(temp)
    others = temp / "tourney-run-by-hand"
    others.mkdir()
    (dead / "locked").mkdir(mode=0)
    remove_left_behind()
    assert set(temp.iterdir()) == {ours, others}


@pytest.mark.parametrize("ending", ["", "raise KeyboardInterrupt", "raise SystemExit(3)"])
def test_a_folder_goes_with_its_process_unless_that_is_killed(temp: Path, ending: str) -> None:
    """Nobody had the time to remove it."""
    assert _of_a_dead_process(temp).exists()
    assert not _of_a_dead_process(temp, ending).exists()


def test_a_link_is_never_followed(temp: Path) -> None:
    """Anybody may make one in a folder that all share."""
    dead = _of_a_dead_process(temp)
    precious = temp / "precious"
    dead.rename(precious)
    dead.symlink_to(precious)
    remove_left_behind()
    assert precious.is_dir()


def test_a_folder_that_was_locked_by_a_bot_is_removed() -> None:
    folder = make_temp("bot")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep").chmod(0)
    folder.chmod(0)
    remove_tree(folder)
    assert not folder.exists()
