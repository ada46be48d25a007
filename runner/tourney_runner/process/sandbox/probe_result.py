"""The result of trying a sandbox, and a trial of its launcher with a real child."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from os import read
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.process.launcher import Program, ResourceLimits

if TYPE_CHECKING:
    from tourney_runner.process.launcher import Launcher

__all__ = ["Finding", "UnavailableError", "complaint_of"]


@dataclass(frozen=True)
class Finding:
    """The result of probing one protection."""

    name: str
    works: bool
    detail: str
    """The active protections, or the missing part."""
    remedy: str = ""
    """Instructions for getting the missing part."""


class UnavailableError(Exception):
    """A protection is not available on this machine.

    Args:
        why: The missing part.
        remedy: Instructions for getting it.
    """

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy


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
