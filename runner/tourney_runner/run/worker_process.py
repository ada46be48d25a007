"""One worker program, seen from the process that starts it."""

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
_DEAF = 20
"""Seconds after which a program that reads nothing is given up."""


class WorkerProgram:
    """Starts ``tourney_runner.run.worker``, writes tasks to it and reads what comes back.

    It ends with its standard input, and with the thread that made it.

    Args:
        setup: What it is told first.
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
        """To be polled; `read` does not wait when there is something."""
        self._poll = select.poll()
        self._poll.register(self.output, select.POLLIN)
        os.set_blocking(self._stdin.fileno(), False)
        self._room = select.poll()
        self._room.register(self._stdin.fileno(), select.POLLOUT)
        self.write(setup_frame(setup))

    def write(self, frame: bytes) -> None:
        """Hand over a frame; if the program has died, `read` will tell.

        One that has stopped reading is killed, so that a run never hangs on it.
        """
        rest = memoryview(frame)
        with suppress(BrokenPipeError):
            while rest:
                if not self._room.poll(_DEAF * 1000):
                    self.kill()
                    return
                with suppress(BlockingIOError):  # there is room, but less than a page
                    rest = rest[os.write(self._stdin.fileno(), rest) :]

    def has_spoken(self, seconds: float) -> bool:
        """Wait for output, or the end of it, for so long; says whether `read` has something."""
        return bool(self._poll.poll(seconds * 1000))

    def read(self) -> list[Outcome] | None:
        """Wait for output and give what is complete now; None if the program has ended."""
        data = os.read(self.output, _READ)
        return [read_outcome(frame) for frame in self._frames.feed(data)] if data else None

    def finish(self) -> None:
        """Tell it to end when it has done what it was given."""
        self._stdin.close()

    def stop(self) -> None:
        """Tell it to end its bots and itself at once."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it without asking; its bots end with it."""
        self._process.kill()

    def end(self, seconds: float = 0.0) -> int:
        """Wait for its end, for so long; then kill it, and give its exit status."""
        try:
            status = self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        if not self._stdin.closed:
            self._stdin.close()
        self._stdout.close()
        return status
