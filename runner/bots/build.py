"""Running a bot's build commands, bounded in time and output."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING

from runner.config.programs import find_program
from runner.config.text import escaped, shown
from runner.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["build"]

_MOST_OUTPUT = 16 * 1024 * 1024
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
        with tempfile.TemporaryFile() as output:
            ending = _run([program, *command[1:]], folder, output, until)
            if ending is not None:
                words = escaped(shlex.join(command), 300)
                lines = _tail(output)
                text = f"; its last lines:\n{lines}" if lines else " and wrote nothing"
                raise UsageError(f"the bot {shown(name)} does not build: `{words}` {ending}{text}")


def _run(command: list[str], folder: Path, output: IO[bytes], until: float) -> str | None:
    """Run one command in a session of its own; how it failed, or None."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        while process.returncode is None:
            try:
                process.wait(min(1.0, max(0.0, until - time.monotonic())))
            except subprocess.TimeoutExpired:
                if os.fstat(output.fileno()).st_size > _MOST_OUTPUT:
                    return "was stopped: it wrote more than 16 MiB"
                if time.monotonic() >= until:
                    return "was stopped: the time for building is over"
    finally:
        _end_session(process)
    if process.returncode < 0:
        return f"was ended by {signal.Signals(-process.returncode).name}"
    return f"ended with status {process.returncode}" if process.returncode else None


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """End the command, if it still runs, and what it started."""
    # Nobody is left in the session, or (on macOS) only the command itself, not yet collected.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(output: IO[bytes]) -> str:
    """The end of what was written, a readable part of it, indented."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 64 * 1024))
    lines = output.read().decode(errors="replace").splitlines()
    return "\n".join(f"  {escaped(line, 200)}" for line in lines[-_LINES_SHOWN:])
