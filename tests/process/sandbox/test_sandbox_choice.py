from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import tourney_runner
from sandbox_stage import works
from tourney_runner.process.sandbox import Finding, Mode, choose, probe

WITHOUT_LANDLOCK = """
import ctypes, struct, sys
sys.path.insert(0, sys.argv[1])
from tourney_runner.process.sandbox.seccomp import Assembler
code = Assembler()
code.load(0)
code.if_equal(444, yes="absent")
code.give(0x7FFF0000)
code.label("absent")
code.give(0x00050000 | 38)
rules = code.assemble()
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_char_p))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(rules) // 8, rules)), 0, 0) == 0
"""
"""Makes this process one on a machine whose kernel has no Landlock."""


def in_a_bare_place(code: str, tmp_path: Path) -> str:
    """Run code where neither bubblewrap nor Landlock is to be had."""
    source = str(Path(tourney_runner.__file__).parent.parent)
    words = [sys.executable, "-c", WITHOUT_LANDLOCK + code, source]
    done = subprocess.run(
        words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(works("bwrap") is not None, reason="no bwrap")
def test_bubblewrap_is_the_first_choice() -> None:
    assert choose("auto", trusted=False).describe().startswith("sandbox: bwrap ")


@pytest.mark.skipif(works("landlock") is not None, reason="no Landlock")
def test_landlock_is_chosen_by_name() -> None:
    launcher = choose("landlock", trusted=False)
    assert launcher.describe().startswith("sandbox: landlock ")
    assert launcher.confines


@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_is_a_way_to_start_bots(mode: Mode) -> None:
    if (missing := works(mode)) is not None:
        pytest.skip(missing)
    assert choose(mode, trusted=True).describe()


@pytest.mark.parametrize("mode", ["limits", "off"])
def test_no_protection_is_called_so(mode: str) -> None:
    launcher = choose(mode, trusted=False)  # type: ignore[arg-type]
    assert not launcher.confines
    assert "no protection against malice" in launcher.describe()


def test_untrusted_bots_are_refused_where_nothing_protects(tmp_path: Path) -> None:
    said = in_a_bare_place(
        """
from tourney_runner.errors import UsageError
from tourney_runner.process.sandbox import choose
try: choose("auto", trusted=False)
except UsageError as error: print(error)
""",
        tmp_path,
    )
    assert "bwrap: bubblewrap is not installed; install bubblewrap: apt-get install" in said
    assert "landlock: the kernel has no Landlock; use a kernel from 5.13 on" in said
    assert "--no-sandbox" in said


def test_trusted_bots_run_with_limits_where_nothing_protects(tmp_path: Path) -> None:
    said = in_a_bare_place(
        """
from tourney_runner.process.sandbox import choose
print(choose("auto", trusted=True).confines)
""",
        tmp_path,
    )
    assert said == "False\n"


def test_what_is_missing_is_found_with_its_remedy(tmp_path: Path) -> None:
    said = in_a_bare_place(
        """
from tourney_runner.process.sandbox import probe
for finding in probe(): print(finding.name, finding.works, bool(finding.remedy))
""",
        tmp_path,
    )
    assert said == "bwrap False True\nlandlock False True\n"


@pytest.mark.skipif(works("bwrap") is not None, reason="no bwrap")
def test_a_bubblewrap_that_fails_is_told_with_its_own_words(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    said = in_a_bare_place(
        """
from tourney_runner.process.sandbox import probe
print(probe()[0].detail)
""",
        tmp_path,
    )
    assert "does not work here" in said
    assert "setting up uid map: Permission denied" in said


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap")
def test_what_works_is_described() -> None:
    for finding in probe():
        assert isinstance(finding, Finding)
        assert finding.works == finding.detail.startswith("sandbox: ")
