"""Whether a launcher works here: a run of the very interpreter that runs this program."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from os import read
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import RunError
from runner.process.launcher import Program, ResourceLimits

if TYPE_CHECKING:
    from runner.process.launcher import Launcher

__all__ = ["complaint_of"]

_SECONDS = 10.0
_LONGEST = 1000


def complaint_of(launcher: Launcher) -> str | None:
    """What went wrong when a small program was started in a folder of its own; None if nothing."""
    with tempfile.TemporaryDirectory(prefix="tourney-trial-") as folder:
        Path(folder).chmod(0o755)
        program = Program((sys.executable, "-I", "-S", "-c", "pass"), folder)
        try:
            child = launcher.start(program, ResourceLimits())
        except (OSError, RunError) as error:
            return str(error)
        ended = child.wait(_SECONDS)
        said = b""
        with suppress(BlockingIOError):
            said = read(child.stderr, _LONGEST)
        ending = child.kill()
    if ended and ending.status == 0:
        return None
    how = str(ending) if ended else "did not end"
    return said.decode(errors="replace").strip() or f"a trial program {how}"
