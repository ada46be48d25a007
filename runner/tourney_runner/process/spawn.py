"""Start a process with three pipes. A failed start leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Started", "spawn"]


@dataclass(frozen=True)
class Started:
    """A started process with this program's ends of its pipes (non-blocking).

    The caller collects it.
    """

    pid: int
    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        """Close this program's ends of the pipes."""
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.close(descriptor)


def spawn(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], inherited: tuple[int, ...] = ()
) -> Started:
    """Start a process in its own session.

    Args:
        command: The command. Its first word is a path.
        cwd: The working directory.
        env: The complete environment.
        inherited: Descriptors that it inherits under their numbers, in addition to the pipes.

    Raises:
        OSError: The process cannot be started. No descriptor stays open.
    """
    # Python 3.11.2 (Debian 12) leaves some of the pipes that `subprocess` itself makes open when
    # there are too few descriptors for all of them.
    with ExitStack() as ours, ExitStack() as theirs:
        ends = []
        for writes in (True, False, False):
            reader, writer = os.pipe()
            kept, passed = (writer, reader) if writes else (reader, writer)
            ours.callback(os.close, kept)
            theirs.callback(os.close, passed)
            os.set_blocking(kept, False)
            ends.append((kept, passed))
        (stdin, their_stdin), (stdout, their_stdout), (stderr, their_stderr) = ends
        process = subprocess.Popen(
            command,
            stdin=their_stdin,
            stdout=their_stdout,
            stderr=their_stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=inherited,
        )
        process.returncode = 0  # the caller collects it, and subprocess must not
        ours.pop_all()
    return Started(process.pid, stdin, stdout, stderr)
