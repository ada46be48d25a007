from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from tourney_runner.process.launcher import ResourceLimits
from tourney_runner.process.sandbox import choose, run_build

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.process.launcher import Launcher
    from tourney_runner.process.sandbox import BuildResult

MIB = 1024 * 1024


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "bot"
    place.mkdir()
    (place / "source").write_text("source")
    return place


def shell(launcher: Launcher, folder: Path, script: str, seconds: float = 20) -> BuildResult:
    return run_build(launcher, ("/bin/sh", "-c", script), str(folder), seconds=seconds)


def test_a_build_writes_to_its_folder_and_says_so(launcher: Launcher, folder: Path) -> None:
    built = shell(launcher, folder, "cat source > made; chmod +x made; echo done; echo well >&2")
    assert built.problem is None
    assert sorted(built.output.split()) == ["done", "well"]
    assert (folder / "made").read_text() == "source"
    assert os.access(folder / "made", os.X_OK)


def test_what_was_built_is_ours_and_for_all_to_read(launcher: Launcher, folder: Path) -> None:
    shell(launcher, folder, "umask 077; mkdir sub; echo x > sub/made; ln -s sub/made link")
    for path in (folder, folder / "sub", folder / "sub/made", folder / "link", folder / "source"):
        assert path.lstat().st_uid == os.geteuid()
    if os.geteuid() == 0:
        assert (folder / "sub").stat().st_mode & 0o777 == 0o755
        assert (folder / "sub/made").stat().st_mode & 0o777 == 0o644


def test_a_build_writes_nowhere_else(launcher: Launcher, folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir(mode=0o777)
    built = shell(launcher, folder, f"echo x > {outside}/made || echo refused")
    assert "refused" in built.output
    assert list(outside.iterdir()) == []


def test_a_build_has_temporary_files_that_vanish(launcher: Launcher, folder: Path) -> None:
    name = f"made-by-{os.getpid()}"
    script = f'cd "$TMPDIR" && echo x > {name} && cat {name} && echo "at $TMPDIR"'
    built = shell(launcher, folder, script)
    assert built.problem is None, built.output
    place = built.output.split("at ")[1].strip()
    assert not os.path.lexists(f"{place}/{name}")


def test_a_build_may_lock_files(launcher: Launcher, folder: Path) -> None:
    code = "import fcntl; fcntl.flock(open('lock', 'w'), fcntl.LOCK_EX)"
    built = run_build(launcher, (sys.executable, "-c", code), str(folder))
    assert built.problem is None, built.output


def test_a_failed_build_tells_its_status_and_what_it_said(launcher: Launcher, folder: Path) -> None:
    built = shell(launcher, folder, "echo no such header; exit 4")
    assert built.problem == "exited with status 4"
    assert built.output == "no such header\n"


def test_a_build_that_never_ends_is_ended_with_all_it_started(
    launcher: Launcher, folder: Path
) -> None:
    built = shell(launcher, folder, "sleep 1000 & sleep 1000", seconds=0.5)
    assert built.problem == "was stopped: the time for building is over"


def test_a_build_that_closes_its_output_is_waited_for(launcher: Launcher, folder: Path) -> None:
    built = shell(launcher, folder, "exec >&- 2>&-; sleep 0.3; echo x > made")
    assert built.problem is None
    assert (folder / "made").exists()


def test_a_build_that_uses_too_much_memory_is_ended(launcher: Launcher, folder: Path) -> None:
    code = "import time; held = bytearray(b'x') * (96 << 20); time.sleep(60)"
    command = (sys.executable, "-c", code)
    limits = ResourceLimits(memory=64 * MIB)
    problem = run_build(launcher, command, str(folder), limits=limits).problem
    assert problem in {"exited with status 1", "used more than 64 MiB of memory"}


def test_only_the_end_of_a_long_output_is_kept(launcher: Launcher, folder: Path) -> None:
    built = shell(launcher, folder, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end")
    assert built.output.endswith("the end\n")
    assert len(built.output) < MIB


def test_a_build_works_without_a_sandbox_as_well(folder: Path) -> None:
    built = shell(choose("limits", trusted=True), folder, "cat source > made")
    assert built.problem is None
    assert (folder / "made").read_text() == "source"
