"""Running a bot's build commands, bounded in time and output."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from runner.config.programs import find_program
from runner.config.text import escaped, shown
from runner.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["build"]

_MOST_OUTPUT = 16 * 1024 * 1024
_KEPT_OUTPUT = 64 * 1024
_LINES_SHOWN = 20
_KEPT = (
    "CARGO_HOME",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "PATH",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "USER",
)
"""What a compiler needs of our environment; anything else may be a secret."""


def build(name: str, commands: tuple[tuple[str, ...], ...], folder: Path, seconds: float) -> None:
    """Run commands one after the other in a folder.

    Args:
        name: The bot's name, for messages.
        commands: With ``{python}`` replaced.
        folder: Where.
        seconds: For all of them together.

    Raises:
        UsageError: One fails, is not there, takes too long or writes without end; with the last
            lines of its output.
    """
    until = time.monotonic() + seconds
    for command in commands:
        program = find_program(command[0], folder)
        if program is None:
            raise UsageError(
                f"the bot {shown(name)} does not build: there is no program {shown(command[0])}"
            )
        output = _Output()
        ending = _run([program, *command[1:]], folder, output, until)
        if ending is not None:
            words = escaped(shlex.join(command), 300)
            raise UsageError(
                f"the bot {shown(name)} does not build: `{words}` {ending}{output.last_lines()}"
            )


class _Output:
    """What a command has written, of which the end is kept."""

    def __init__(self) -> None:
        self.size = 0
        self._end = b""

    def take(self, pipe: int) -> bool:
        """Read what is there without waiting; says whether more may come."""
        try:
            data = os.read(pipe, _KEPT_OUTPUT)
        except BlockingIOError:
            return True
        self.size += len(data)
        self._end = (self._end + data)[-_KEPT_OUTPUT:]
        return bool(data)

    def last_lines(self) -> str:
        """The end of a message: a readable part of what was written last, indented."""
        lines = self._end.decode(errors="replace").splitlines()[-_LINES_SHOWN:]
        shown_lines = [f"\n  {escaped(line, 200)}" for line in lines]
        return f"; its last lines:{''.join(shown_lines)}" if lines else " and wrote nothing"


def _run(command: list[str], folder: Path, output: _Output, until: float) -> str | None:
    """Run one command in a session of its own; how it failed, or None."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            stopped = _follow(process, output, until)
        finally:
            # Nobody is left in the session, or (on macOS) only the uncollected command itself.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    if stopped:
        return stopped
    if process.returncode < 0:
        return f"was ended by {signal.Signals(-process.returncode).name}"
    return f"ended with status {process.returncode}" if process.returncode else None


def _follow(process: subprocess.Popen[bytes], output: _Output, until: float) -> str | None:
    """Wait for a command to end, or say why it must be stopped.

    Its output may stay open longer than the command runs, in the hands of what it has started.
    """
    if process.stdout is None:
        raise ValueError("the output of a build must be a pipe")
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    more = True
    while process.poll() is None:
        if more and waiting.poll(100):
            more = output.take(pipe)
        elif not more:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        if output.size > _MOST_OUTPUT:
            return "was stopped: it wrote more than 16 MiB"
        if time.monotonic() >= until:
            return "was stopped: the time for building is over"
    while more and waiting.poll(0) and output.size <= _MOST_OUTPUT:
        more = output.take(pipe)
    return None
