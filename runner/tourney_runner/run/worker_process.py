"""The parent's side of a worker program."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tourney_runner.run.worker_messages import FrameReader, read_outcome, setup_frame

if TYPE_CHECKING:
    from typing import IO

    from tourney_runner.run.worker_messages import Outcome, Setup

__all__ = ["WorkerProgram"]

_READ = 1 << 20
_UNREAD = 20
"""Seconds after which a program that does not read is killed."""


class WorkerProgram:
    """A process of ``tourney_runner.run.worker``, with its tasks and outcomes.

    It ends with its standard input, and with the thread that started it.

    Args:
        setup: Its first message.
        stderr: The file for its standard error; None for that of this process.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, setup: Setup, stderr: IO[bytes] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tourney_runner.run.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a worker's streams must be pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._frames = FrameReader()
        self.pid = self._process.pid
        self.output = self._stdout.fileno()
        """The descriptor to poll; when it is readable, `read` does not wait."""
        self._poll = select.poll()
        self._poll.register(self.output, select.POLLIN)
        os.set_blocking(self._stdin.fileno(), False)
        self._room = select.poll()
        self._room.register(self._stdin.fileno(), select.POLLOUT)
        self.write(setup_frame(setup))

    def write(self, frame: bytes) -> None:
        """Write a frame; `read` reports if the program has died.

        A program that has stopped reading is killed, so that a run never hangs on it.
        """
        rest = memoryview(frame)
        with suppress(BrokenPipeError):
            while rest:
                if not self._room.poll(_UNREAD * 1000):
                    self.kill()
                    return
                with suppress(BlockingIOError):  # there is room for less than a page
                    rest = rest[os.write(self._stdin.fileno(), rest) :]

    def has_output(self, seconds: float) -> bool:
        """Wait for output or its end; return whether there is something to `read`."""
        return bool(self._poll.poll(seconds * 1000))

    def read(self) -> list[Outcome] | None:
        """Wait for output and return the complete outcomes; None if the program has ended."""
        data = os.read(self.output, _READ)
        return [read_outcome(frame) for frame in self._frames.feed(data)] if data else None

    def finish(self) -> None:
        """Let it end after its tasks."""
        self._stdin.close()

    def stop(self) -> None:
        """Let it end its bots and itself at once."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it; its bots end with it."""
        self._process.kill()

    def end(self, seconds: float = 0.0) -> int:
        """Wait for its end, then kill it; return its exit status."""
        try:
            status = self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        if not self._stdin.closed:
            self._stdin.close()
        self._stdout.close()
        return status
