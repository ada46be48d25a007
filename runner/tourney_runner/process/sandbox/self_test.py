"""A trial run of a launcher with the interpreter that runs this program."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from os import read
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.launcher import Program, ResourceLimits
from tourney_runner.process.temporary_folders import make_temp

if TYPE_CHECKING:
    from tourney_runner.process.launcher import Launcher

__all__ = ["complaint_of"]

_SECONDS = 10.0
_LONGEST = 1000


def complaint_of(launcher: Launcher) -> str | None:
    """Return the error of a trial start in a temporary folder, or None if it worked."""
    with ExitStack() as undo:
        folder = make_temp("trial")
        undo.callback(remove_tree, folder)
        folder.chmod(0o755)
        program = Program((sys.executable, "-I", "-S", "-c", "pass"), str(folder))
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
