"""One request, one deadline: the pipe to a bot.

A single absolute deadline covers writing the request, waiting, and every partial line of the
reply. Both of the bot's outputs are read in the same poll, so that a bot that fills stderr is
never stuck on it; what is read is bounded in bytes while it is read.
"""

from __future__ import annotations

import os
import select
from collections import deque
from time import monotonic_ns
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.process.launcher import Child

__all__ = ["Channel", "ExchangeError"]

_FIRST_STEP_MS = 5
_STEP_MS = 50
"""The longest single waits; after each the process itself is looked at, so a quick bot never is."""

_CHUNK = 65536

_LOOK_EVERY = 64
"""Reads in a row after which the process is looked at although it keeps us busy."""


class ExchangeError(Exception):
    """No line came.

    Args:
        reason: ``deadline``; ``ended``: the bot closed its output or is gone; ``flood``: it wrote
            more than it may; ``memory``: it holds more than it may.
    """

    def __init__(self, reason: Literal["deadline", "ended", "flood", "memory"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Channel:
    """The pipes of one `Child`.

    Args:
        child: The process.
        output_cap: Bytes of stdout for one request.
        stderr_cap: Bytes of stderr that are kept; the rest is read and dropped.
        memory_cap: Bytes for the process tree, looked at while waiting; None for no cap.
        step: Called after each wait that brought nothing, with the nanoseconds by which the wait
            came back too late.
    """

    def __init__(
        self,
        child: Child,
        *,
        output_cap: int,
        stderr_cap: int,
        memory_cap: int | None,
        step: Callable[[int], None] | None = None,
    ) -> None:
        self._child = child
        self._output_cap = output_cap
        self._stderr_cap = stderr_cap
        self._memory_cap = memory_cap
        self._step = step
        self._step_ms = _FIRST_STEP_MS
        self._due = 0
        self._stdin = child.stdin
        self._stdout = child.stdout
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._received = 0
        self._reads = 0
        self._ended = False
        self._stderr = bytearray()
        self._stderr_open = True
        self._stderr_dropped = 0
        self._poll = select.poll()
        self._poll.register(child.stdout, select.POLLIN)
        self._poll.register(child.stderr, select.POLLIN)

    def exchange(self, payload: bytes, deadline: int) -> bytes:
        """Write a request and give the first line that comes, or that had come before.

        Args:
            payload: Whole lines.
            deadline: In nanoseconds of `time.monotonic_ns`.

        Raises:
            ExchangeError: See there. A line that is complete at the deadline is still given; how
                late is too late is for the clock to say.
        """
        self._received = 0
        self._reads = 0
        self._step_ms = _FIRST_STEP_MS
        try:
            sent = os.write(self._stdin, payload)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:  # what it wrote before it ended is still to be read
            sent = len(payload)
        if sent != len(payload):
            self._write_rest(payload[sent:], deadline)
        return self.next_line(deadline)

    def next_line(self, deadline: int) -> bytes:
        """The next line that is not blank, with whatever ended it; raises as `exchange` does."""
        if self._lines and monotonic_ns() > deadline:  # however many there are
            raise ExchangeError("deadline")
        while not self._lines:
            if self._ended:
                raise ExchangeError("ended")
            self._wait(deadline)
        return self._lines.popleft()

    def late(self, now: int) -> int:
        """How long before `now` the last wait should have come back at the latest; may be below 0.

        A line that came in the meantime may have come at any time of it.
        """
        return now - self._due

    def received(self) -> bytes:
        """An unfinished line, if there is one."""
        return bytes(self._partial)

    def stderr(self) -> str:
        """What the bot wrote to stderr since this was last called; the middle may be cut out."""
        self._drain_stderr()
        text = self._stderr.decode(errors="replace")
        if self._stderr_dropped:
            half = len(text) // 2
            text = f"{text[:half]}\n[... {self._stderr_dropped} bytes dropped ...]\n{text[half:]}"
        self._stderr.clear()
        self._stderr_dropped = 0
        return text

    def _wait(self, deadline: int) -> None:
        """Read what there is, waiting one step at most."""
        now = monotonic_ns()
        left = deadline - now
        if left <= 0:
            raise ExchangeError("deadline")
        wait = min(left // 1_000_000 + 1, self._step_ms)
        self._due = now + wait * 1_000_000
        ready = self._poll.poll(wait)
        for descriptor, _ in ready:
            if descriptor == self._stdout:
                self._read_stdout()
            elif descriptor == self._stdin:
                continue
            else:
                self._read_stderr()
        self._reads += 1
        if not ready or self._reads > _LOOK_EVERY:
            self._reads = 0
            self._step_ms = _STEP_MS
            self._look_at_process()

    def _look_at_process(self) -> None:
        if self._step is not None:
            self._step(max(0, self.late(monotonic_ns())))
        if self._child.has_exited():
            # A descendant may hold the pipe open for ever: what is in it now is all there is.
            while not self._ended and self._poll.poll(0):
                before = self._received
                self._read_stdout()
                if self._received == before:
                    break
            self._ended = True
        elif self._memory_cap is not None and self._child.holds_more_than(self._memory_cap):
            raise ExchangeError("memory")

    def _read_stdout(self) -> None:
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._ended = True
            self._poll.unregister(self._stdout)
            return
        self._received += len(data)
        if self._received > self._output_cap:
            self._partial += data[:_CHUNK]
            raise ExchangeError("flood")
        if self._partial:
            data = bytes(self._partial) + data if b"\n" in data else self._hold(data)
        if data.endswith(b"\n") and data.count(b"\n") == 1:  # the usual case: one whole line
            self._partial.clear()
            if not data.isspace():
                self._lines.append(data)
        elif data:
            *whole, rest = data.split(b"\n")
            self._partial[:] = rest
            self._lines.extend(line for line in whole if line and not line.isspace())

    def _hold(self, data: bytes) -> bytes:
        self._partial += data
        return b""

    def _read_stderr(self) -> None:
        try:
            data = os.read(self._child.stderr, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(self._child.stderr)
            self._stderr_open = False
            return
        self._stderr += data
        extra = len(self._stderr) - self._stderr_cap
        if extra > 0:  # the first lines and the last tell most
            head = self._stderr_cap // 2
            del self._stderr[head : head + extra]
            self._stderr_dropped += extra

    def _drain_stderr(self) -> None:
        # Bounded: a bot that writes as fast as it is read must not hold us here.
        for _ in range(64):
            if not self._stderr_open:
                return
            before = len(self._stderr) + self._stderr_dropped
            self._read_stderr()
            if len(self._stderr) + self._stderr_dropped == before:
                return

    def _write_rest(self, payload: bytes, deadline: int) -> None:
        """Write on while reading, for a bot that is slow to read or reads nothing."""
        rest = memoryview(payload)
        self._poll.register(self._stdin, select.POLLOUT)
        try:
            while rest and not self._ended:
                try:
                    rest = rest[os.write(self._stdin, rest) :]
                except BlockingIOError:
                    self._wait(deadline)
                except BrokenPipeError:
                    return
        finally:
            self._poll.unregister(self._stdin)
