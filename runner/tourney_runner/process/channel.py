"""Exchange requests and answers with a bot, each under one deadline.

A single absolute deadline covers writing the request, waiting, and every partial line of the
reply. If an answer is not there at once, stdout and stderr are read in the same poll, so that a bot
that fills stderr is blocked only for a small part of its limit. The number of bytes is limited
while they are read.
"""

from __future__ import annotations

import os
import select
from collections import deque
from dataclasses import dataclass
from os import read, write
from time import monotonic_ns
from typing import TYPE_CHECKING, Literal

from tourney_runner.process.cores import Handover

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.child import Child

__all__ = ["Caps", "Channel", "ExchangeError"]

_STEP_MS = 5
"""The longest single wait. The process itself is checked after the first wait without data, so a
quick bot is never checked. Waits that return late show that the host was busy."""

_MS = 1_000_000
_STEP_NS = _STEP_MS * _MS

_PUNCTUAL_NS = 200_000
"""A wait that returns at most this late counts as on time, as timers are inexact."""

_LOOK_AFTER_NS = 50 * _MS
"""Nanoseconds between two checks of a process."""

_SHORT_LIMIT = 20 * _STEP_NS
"""For limits of at least this, a step is short enough to keep a bot waiting."""

_CHUNK = 65536

_NEWLINE = b"\n"

_LOOK_EVERY = 64
"""Reads in a row after which the process is checked even if it keeps writing."""


class ExchangeError(Exception):
    """No line was received.

    Args:
        reason: ``deadline``; ``ended``: the bot closed its output or is gone; ``flood``: it wrote
            more than allowed for a request; ``deal flood``: more than allowed for a deal;
            ``memory``: it uses too much memory; ``processes``: it has too many processes.
    """

    def __init__(
        self, reason: Literal["deadline", "ended", "flood", "deal flood", "memory", "processes"]
    ) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The limits of one bot, in bytes."""

    output: int
    """Maximum stdout for one request."""
    deal_output: int
    """Maximum stdout for one deal."""
    stderr: int
    """The amount of stderr that is kept. The rest is read and dropped."""
    memory: int | None
    """Maximum for the process tree, checked while waiting; None for no limit."""


class Channel:
    """The pipes of a `Child`.

    Args:
        child: The process.
        caps: The limits of the process.
        handover: The instance shared by all channels of a worker.
        step: Called whenever the process was checked and no data came. Its arguments are the time
            when the request was written, the total delay in nanoseconds of the waits that ended
            late since the last call, and the largest of these delays.
    """

    def __init__(
        self,
        child: Child,
        caps: Caps,
        *,
        handover: Handover | None = None,
        step: Callable[[int, int, int], None] | None = None,
    ) -> None:
        self._child = child
        self._caps = caps
        self._deal_left = caps.deal_output
        self._at_most = min(_CHUNK, caps.output)
        self._handover = handover or Handover()
        self._step = step
        self._asked = self._due = self._deadline = 0
        self._next_look = self._late = self._latest = 0
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
        self._errors = select.poll()
        self._errors.register(child.stderr, select.POLLIN)
        answers = select.poll()
        answers.register(child.stdout, select.POLLIN)
        self._wait_for_answer = answers.poll
        self._plain = True
        """Whether only the next answer has to be read."""
        self._noisy = False
        """Whether output on stderr has kept the bot waiting in this deal."""
        self._hurried = False
        """Whether the limit is so short that stderr must never keep the bot waiting."""

    def allow(self, limit: int) -> None:
        """Set the limit for an answer in nanoseconds."""
        self._hurried = limit < _SHORT_LIMIT
        self._settle()

    def deal(self) -> None:
        """Begin a deal with the full allowance of output."""
        self._deal_left = self._caps.deal_output
        self._noisy = False
        self._settle()

    # This runs for every move. It handles the usual case, an answer that comes at once, whole and
    # alone. The other cases have functions of their own.
    def exchange(self, payload: bytes, asked: int, patience: int) -> bytes:
        """Write a request and return the first line received, possibly one received earlier.

        The line may be blank, unlike those of `next_line`.

        Args:
            payload: One or more whole lines.
            asked: The time of the request, in nanoseconds of `time.monotonic_ns`.
            patience: The maximum time for writing and waiting, in nanoseconds after `asked`.

        Raises:
            ExchangeError: No line was received. A line that is complete at the deadline is still
                returned; the clock decides whether it is too late.
        """
        try:
            sent = write(self._stdin, payload)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:  # output written before the end can still be read
            sent = len(payload)
        if self._plain and sent == len(payload):
            if asked >= self._handover.after:
                os.sched_yield()
                try:
                    data = read(self._stdout, self._at_most)
                except BlockingIOError:
                    data = self._await_answer()
            else:
                data = self._await_answer()
            size = len(data)
            if data and size <= self._deal_left and data.find(_NEWLINE) == size - 1:
                self._deal_left -= size
                return data
            self._begin(asked, patience)
            if data:
                self._take(data)
            else:
                self._come_back(self._poll.poll(0))
        else:
            self._begin(asked, patience)
            if sent != len(payload):
                self._write_rest(payload[sent:])
            elif not (self._lines or self._partial):
                # Due since the request, as above: a delay of the worker is not the bot's fault.
                self._come_back(self._poll.poll(_STEP_MS))
        return self.next_line(asked, patience)

    def _await_answer(self) -> bytes:
        """Return what comes from stdout within the first step, or nothing."""
        return read(self._stdout, self._at_most) if self._wait_for_answer(_STEP_MS) else b""

    def next_line(self, asked: int, patience: int, received: int = 0) -> bytes:
        """Return the next line that is not blank, without its newline; raises like `exchange`.

        Args:
            asked: As for the `exchange` before.
            patience: As for the `exchange` before.
            received: The length of the line returned by that call.
        """
        if asked != self._asked:
            self._begin(asked, patience, received)
        if self._lines and monotonic_ns() > self._deadline:  # even if there are many
            raise ExchangeError("deadline")
        while not self._lines:
            if self._ended:
                raise ExchangeError("ended")
            self._wait()
        line = self._lines.popleft()
        self._settle()
        return line

    def take_late(self, asked: int, now: int) -> tuple[int, int]:
        """Return the delays of waits that returned late since the last call.

        Args:
            asked: As for the `exchange`.
            now: The current time, as the end of the last wait. A line that came after its due time
                may have come at any time.

        Returns:
            The sum of the delays and the largest of them, in nanoseconds.
        """
        if asked != self._asked:
            self._begin(asked, 0)
        self._note_late(now)
        late, latest = self._late, self._latest
        self._late = self._latest = 0
        return late, latest

    def _note_late(self, now: int) -> None:
        late = now - self._due
        if late > _PUNCTUAL_NS:
            self._due = now  # must not count again with the answer
            self._late += late
            self._latest = max(self._latest, late)

    def _begin(self, asked: int, patience: int, received: int = 0) -> None:
        """Start counting bytes and time for a request whose answer did not come at once."""
        self._asked = asked
        self._received = received
        self._next_look = self._late = self._latest = 0
        self._due = asked + _STEP_NS
        self._deadline = asked + patience

    def _settle(self) -> None:
        careful = self._hurried or self._noisy
        self._plain = not (self._lines or self._partial or careful or self._ended)

    def received(self) -> bytes:
        """Return the unfinished line, if there is one."""
        return bytes(self._partial)

    def stderr(self) -> str:
        """Return the bot's stderr since the last call, without the middle if it is long."""
        self._drain_stderr()
        if not (self._stderr or self._stderr_dropped):
            return ""
        text = self._stderr.decode(errors="replace")
        if self._stderr_dropped:
            half = len(text) // 2
            text = f"{text[:half]}\n[... {self._stderr_dropped} bytes dropped ...]\n{text[half:]}"
        self._stderr.clear()
        self._stderr_dropped = 0
        return text

    def _wait(self) -> None:
        """Read available data, waiting at most one step."""
        now = monotonic_ns()
        left = self._deadline - now
        if left <= 0:
            raise ExchangeError("deadline")
        wait = min(left // _MS + 1, _STEP_MS)
        self._due = now + wait * _MS
        self._come_back(self._poll.poll(wait))

    def _come_back(self, ready: list[tuple[int, int]]) -> None:
        """Read the data that a wait has brought. If there is none, check the process."""
        for descriptor, _ in ready:
            if descriptor == self._stdout:
                self._read_stdout()
            elif descriptor != self._stdin:
                self._noisy = True
                self._read_stderr()
        self._reads += 1
        if ready and self._reads <= _LOOK_EVERY:
            return
        now = monotonic_ns()
        self._note_late(now)
        if ready or now >= self._next_look:
            self._reads = 0
            self._next_look = now + _LOOK_AFTER_NS
            self._look_at_process()

    def _look_at_process(self) -> None:
        if self._step is not None:
            self._step(self._asked, *self.take_late(self._asked, monotonic_ns()))
        if self._child.has_exited() or self._child.has_closed_output():
            # A descendant or the sandbox may hold the pipe open: what is in it now is all there is.
            while not self._ended and self._poll.poll(0):
                if not self._read_stdout():
                    break
            self._ended = True
        else:
            self._look_at_resources()

    def _look_at_resources(self) -> None:
        cap = self._caps.memory
        if cap is None and self._child.most_processes is None:
            return
        processes = self._child.processes()
        if cap is not None and self._child.holds_more_than(cap, processes):
            raise ExchangeError("memory")
        if self._child.has_too_many_processes(processes):
            raise ExchangeError("processes")

    def _read_stdout(self) -> bool:
        """Read from stdout and return whether there was any data."""
        try:
            data = read(self._stdout, _CHUNK)
        except BlockingIOError:
            return False
        self._take(data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        """Count received data, and split it into complete lines and an unfinished one."""
        if not data:
            self._ended = True
            self._poll.unregister(self._stdout)
            return
        self._received += len(data)
        self._deal_left -= len(data)
        if self._received > self._caps.output or self._deal_left < 0:
            self._partial += data
            raise ExchangeError("flood" if self._deal_left >= 0 else "deal flood")
        if _NEWLINE not in data:
            self._partial += data
            return
        *whole, rest = (bytes(self._partial) + data).split(_NEWLINE)
        self._partial[:] = rest
        self._lines.extend(line for line in whole if line and not line.isspace())

    def _read_stderr(self) -> None:
        try:
            data = read(self._child.stderr, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(self._child.stderr)
            self._stderr_open = False
            return
        self._stderr += data
        extra = len(self._stderr) - self._caps.stderr
        if extra > 0:  # the first and last lines are the most useful
            head = self._caps.stderr // 2
            del self._stderr[head : head + extra]
            self._stderr_dropped += extra

    def _drain_stderr(self) -> None:
        # Limited, so that a bot that writes as fast as it is read cannot hold up the worker.
        for _ in range(64):
            if not (self._stderr_open and self._errors.poll(0)):
                return
            self._read_stderr()

    def _write_rest(self, payload: bytes) -> None:
        """Write the rest of a request while reading output, for a bot that is slow to read."""
        rest = memoryview(payload)
        self._poll.register(self._stdin, select.POLLOUT)
        try:
            while rest and not self._ended:
                try:
                    rest = rest[write(self._stdin, rest) :]
                except BlockingIOError:
                    self._wait()
                except BrokenPipeError:
                    return
        finally:
            self._poll.unregister(self._stdin)
