"""Run a bot's build commands, confined like the bot itself and limited in time and output."""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING

from tourney_runner.config.paths import find_program
from tourney_runner.errors import UsageError
from tourney_runner.process.launcher import Rights
from tourney_runner.process.program_finder import ProgramError
from tourney_runner.process.sandbox import run_build
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.process.launcher import Launcher

__all__ = ["build"]

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
    "USER",
)
"""Environment variables for an unconfined compiler. All others are dropped: they may be secret."""


def build(  # noqa: PLR0913 - what, where and how
    name: str,
    commands: tuple[tuple[str, ...], ...],
    folder: Path,
    *,
    launcher: Launcher,
    network: bool,
    tools: tuple[str, ...],
    seconds: float,
) -> None:
    """Run build commands one after the other in a folder.

    Args:
        name: The bot's name, for messages.
        commands: The commands, with ``{python}`` replaced.
        folder: The working directory.
        launcher: Starts the commands.
        network: Whether they may use the network.
        tools: Folders of programs that the tournament grants, see `process.launcher.Rights`.
        seconds: The time limit for all of them together.

    Raises:
        UsageError: A command fails, is missing, takes too long or uses too much. The message
            ends with the last lines of its output.
    """
    until = time.monotonic() + seconds
    # A sandbox gives a compiler its own installation and sets the variables for it.
    env = {} if launcher.confines else {key: os.environ[key] for key in _KEPT if key in os.environ}
    rights = Rights(network=network, tools=tools)
    for command in commands:
        try:
            program = find_program(command[0], folder, rights)
        except ProgramError as error:
            raise UsageError(
                f"the bot {shown(name)} does not build: {shown(command[0])}: {error}"
            ) from error
        result = run_build(
            launcher,
            (program, *command[1:]),
            str(folder),
            rights=rights,
            env=env,
            seconds=max(0.0, until - time.monotonic()),
        )
        if result.problem is not None:
            words = escaped(shlex.join(command), 300)
            raise UsageError(
                f"the bot {shown(name)} does not build: `{words}` {result.problem}"
                + _last_lines(result.output)
            )


def _last_lines(output: str) -> str:
    """Return the last lines of the output, escaped and indented, as the end of a message."""
    lines = [f"\n  {escaped(line, 200)}" for line in output.splitlines()[-_LINES_SHOWN:]]
    return f"; its last lines:{''.join(lines)}" if lines else " and wrote nothing"
