"""Run one build command of a bot in its folder, confined like the bot but with higher limits.

The build may write to the folder and to nothing else that lasts. The bot itself can only read it.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.process.folder_tree import walk
from tourney_runner.process.launcher import Program, ResourceLimits, Rights
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Launcher

__all__ = ["BUILD_LIMITS", "MOST_BYTES", "MOST_FILES", "BuildResult", "run_build"]

_GIB = 1024**3

BUILD_LIMITS = ResourceLimits(
    memory=4 * _GIB, file_size=_GIB, open_files=4096, processes=256, temp_size=_GIB
)
"""Limits that suit compilers of all kinds without taking the whole machine."""

MOST_FILES = 20_000
MOST_BYTES = _GIB
"""The limits of a bot's folder, before and after it is built."""
_OUTPUT_AT_MOST = 16 * 1024 * 1024
_OUTPUT_KEPT = 64 * 1024
_LONGEST_SHOWN = 300
_CHUNK = 1024 * 1024
"""A read of this size empties a pipe."""
_STEP = 0.2
_LOOK_EVERY = 1.0


@dataclass(frozen=True)
class BuildResult:
    """The result of a build."""

    problem: str | None
    """The problem, to follow the word *it*, such as ``exited with status 1``; None if there was
    none."""
    output: str
    """The end of stdout and stderr, in order of arrival."""


def run_build(  # noqa: PLR0913 - all but the first three have a default that fits
    launcher: Launcher,
    command: tuple[str, ...],
    folder: str,
    *,
    rights: Rights | None = None,
    env: Mapping[str, str] | None = None,
    limits: ResourceLimits = BUILD_LIMITS,
    seconds: float = 600,
) -> BuildResult:
    """Run a build command to its end, and end everything that it started.

    Args:
        launcher: The launcher that will start the bot.
        command: The command. Its first word is an absolute path.
        folder: The bot's folder, which the command may write to.
        rights: Permissions granted by the organiser; none if left out.
        env: Variables beyond the clean environment.
        limits: Limits for the build and all its processes.
        seconds: The time limit.

    Raises:
        OSError: The command cannot be started at all.
        RunError: The sandbox could not be set up.
    """
    program = Program(command, folder, tuple((env or {}).items()), rights or Rights(), builds=True)
    child = launcher.start(program, limits)
    watch = _Watch(child, folder, limits)
    try:
        child.close_input()
        problem = watch.until_over(seconds)
    finally:
        ending = child.kill()
    if ending.out_of_memory:
        problem = _too_much_memory(limits.memory)
    elif ending.host_out_of_memory:
        problem = _NO_MEMORY_LEFT
    elif problem is None and ending.status != 0:
        problem = str(ending)
    if problem is None:
        try:
            problem = folder_excess(folder, is_done=True)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            problem = f"made a folder that cannot be kept: {error.strerror}"
    return BuildResult(problem, watch.output.decode(errors="replace"))


_NO_MEMORY_LEFT = "was ended by this machine, whose memory was used up; free some and try again"


class _Watch:
    """A monitor that reads a build's output and checks its use of resources from time to time."""

    def __init__(self, child: Child, folder: str, limits: ResourceLimits) -> None:
        self.output = bytearray()
        self._written = 0
        self._child = child
        self._folder = folder
        self._memory = limits.memory
        self._streams = [child.stdout, child.stderr]
        self._poll = select.poll()
        for stream in self._streams:
            self._poll.register(stream, select.POLLIN)

    def until_over(self, seconds: float) -> str | None:
        """Wait for the end. Return the problem if the build had to be stopped, else None."""
        until = time.monotonic() + seconds
        next_look = time.monotonic() + _LOOK_EVERY
        while not self._child.has_exited():
            if self._streams:
                self._poll.poll(_STEP * 1000)
                self._read()
            else:
                self._child.wait(_STEP)
            if time.monotonic() >= until:
                return "was stopped: the time for building is over"
            if self._written > _OUTPUT_AT_MOST:
                return f"was stopped: it wrote more than {_OUTPUT_AT_MOST >> 20} MiB"
            if time.monotonic() >= next_look:
                next_look += _LOOK_EVERY
                excess = self._excess()
                if excess is not None:
                    return excess
        while self._read() and self._written <= _OUTPUT_AT_MOST:
            pass
        return None

    def _read(self) -> bool:
        """Read what is there, and return whether there was anything.

        What a build writes to stderr at its end comes last, as stdout is read first.
        """
        before = self._written
        for stream in tuple(self._streams):
            with suppress(BlockingIOError):
                data = os.read(stream, _CHUNK)
                self._written += len(data)
                self.output += data
                del self.output[:-_OUTPUT_KEPT]
                if not data:
                    self._poll.unregister(stream)
                    self._streams.remove(stream)
        return self._written > before

    def _excess(self) -> str | None:
        if self._memory is not None and self._child.holds_more_than(self._memory):
            return _too_much_memory(self._memory)
        if self._child.has_too_many_processes():
            return f"had more than {self._child.most_processes} processes and threads at a time"
        return folder_excess(self._folder)


def folder_excess(folder: str, *, is_done: bool = False) -> str | None:
    """Return what is wrong with a built folder, to follow the word *it*; None if nothing is.

    Args:
        folder: The folder.
        is_done: Whether the build has ended, so that special files are looked for.

    Raises:
        OSError: The folder cannot be read.
    """
    size = 0
    for number, found in enumerate(walk(folder, opens_up=True, cuts_off=not is_done)):
        mode = found.status.st_mode
        size += found.status.st_blocks * 512
        if number >= MOST_FILES:
            return f"made more than {MOST_FILES} files"
        if size > MOST_BYTES:
            return f"wrote more than {MOST_BYTES >> 20} MiB to its folder"
        if is_done and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            return f"left '{escaped(found.path, _LONGEST_SHOWN)}', which is not a regular file"
    return None


def _too_much_memory(most: int | None) -> str:
    return f"used more than {(most or 0) >> 20} MiB of memory"
