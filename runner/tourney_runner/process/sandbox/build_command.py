"""Building a bot: one command in its folder, confined as the bot will be, with more room.

The folder may be written to, and nothing else that lasts. The bot itself only reads it later.
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
"""What compilers of all kinds need, and not the whole machine."""

MOST_FILES = 20_000
MOST_BYTES = _GIB
"""What a bot's folder may hold, before and after it is built."""
_OUTPUT_AT_MOST = 16 * 1024 * 1024
_OUTPUT_KEPT = 64 * 1024
_LONGEST_SHOWN = 300
_CHUNK = 1024 * 1024
"""More than a pipe holds: one read empties it."""
_STEP = 0.2
_LOOK_EVERY = 1.0


@dataclass(frozen=True)
class BuildResult:
    """How a build ended."""

    problem: str | None
    """To follow the word *it*, such as ``exited with status 1``; None if all went well."""
    output: str
    """The end of what it wrote, both streams as they came."""


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
    """Run a build step to its end; nothing that it started is left.

    Args:
        launcher: The one that will start the bot.
        command: The first word is an absolute path.
        folder: The bot's folder, which it may write to.
        rights: What the organiser grants it; nothing if left out.
        env: Variables beyond the clean environment.
        limits: For the build and all below it.
        seconds: How long it may take.

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
    """Reads what a build writes, and looks now and then at what it takes up."""

    def __init__(self, child: Child, folder: str, limits: ResourceLimits) -> None:
        self.output = bytearray()
        self._written = 0
        self._child = child
        self._folder = folder
        self._memory = limits.memory
        self._streams = {child.stdout, child.stderr}
        self._poll = select.poll()
        for stream in self._streams:
            self._poll.register(stream, select.POLLIN)

    def until_over(self, seconds: float) -> str | None:
        """Wait for the end; what is wrong if it cannot be waited for."""
        until = time.monotonic() + seconds
        next_look = time.monotonic() + _LOOK_EVERY
        while not self._child.has_exited():
            if self._streams:
                self._read([stream for stream, _ in self._poll.poll(_STEP * 1000)])
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
        self._read(list(self._streams))
        return None

    def _read(self, streams: list[int]) -> None:
        for stream in streams:
            with suppress(BlockingIOError):
                data = os.read(stream, _CHUNK)
                self._written += len(data)
                self.output += data
                del self.output[:-_OUTPUT_KEPT]
                if not data:
                    self._poll.unregister(stream)
                    self._streams.discard(stream)

    def _excess(self) -> str | None:
        if self._memory is not None and self._child.holds_more_than(self._memory):
            return _too_much_memory(self._memory)
        if self._child.has_too_many_processes():
            return f"had more than {self._child.most_processes} processes and threads at a time"
        return folder_excess(self._folder)


def folder_excess(folder: str, *, is_done: bool = False) -> str | None:
    """Return what is wrong with a folder that was built, to follow the word *it*.

    Args:
        folder: The folder.
        is_done: Whether nothing writes to it any more, so that special files are looked for.

    Raises:
        OSError: It cannot be read.
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
