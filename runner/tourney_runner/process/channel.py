"""One request, one deadline: the pipe to a bot.

A single absolute deadline covers writing the request, waiting, and every partial line of the
reply. Whenever an answer is not there at once, both of the bot's outputs are read in the same poll,
so that a bot that fills stderr is not stuck on it for longer than a small part of its limit; what
is read is bounded in bytes while it is read.
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
"""The longest single wait. The process itself is looked at after the first that brought nothing, so
a quick bot never is; how late the others come back shows what the host does meanwhile."""

_MS = 1_000_000
_STEP_NS = _STEP_MS * _MS

_PUNCTUAL_NS = 200_000
"""A wait that comes back no later than this was not held up; timers are that inexact."""

_LOOK_AFTER_NS = 50 * _MS
"""Time between two looks at a process."""

_SHORT_LIMIT = 20 * _STEP_NS
"""A step is so small a part of this that a bot can be left waiting for that long."""

_CHUNK = 65536

_NEWLINE = b"\n"

_LOOK_EVERY = 64
"""Reads in a row after which the process is looked at although it keeps the worker busy."""


class ExchangeError(Exception):
    """No line came.

    Args:
        reason: ``deadline``; ``ended``: the bot closed its output or is gone; ``flood``: it wrote
            more than it may for a request; ``deal flood``: or in a deal; ``memory``: it holds
            more than it may; ``processes``: it has more of them than it may.
    """

    def __init__(
        self, reason: Literal["deadline", "ended", "flood", "deal flood", "memory", "processes"]
    ) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What one bot may use, in bytes."""

    output: int
    """Of stdout for one request."""
    deal_output: int
    """Of stdout for one deal."""
    stderr: int
    """Of stderr that are kept; the rest is read and dropped."""
    memory: int | None
    """For the process tree, looked at while waiting; None for no cap."""


class Channel:
    """The pipes of one `Child`.

    Args:
        child: The process.
        caps: What it may use.
        handover: Shared by all channels of a worker.
        step: Called whenever the process has been looked at while nothing came. Its arguments are
            the time when the request was written, the nanoseconds by which the waits since the
            last call came back too late in all, and the largest of these delays.
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
        """Whether there is nothing but the next answer to look for."""
        self._noisy = False
        """Whether the bot has been kept waiting by what it had written to stderr."""
        self._hurried = False
        """Whether it may not be kept waiting by that at all."""

    def allow(self, limit: int) -> None:
        """From now on the bot has so many nanoseconds for an answer."""
        self._hurried = limit < _SHORT_LIMIT
        self._settle()

    def deal(self) -> None:
        """A deal begins: what may be written in it counts anew."""
        self._deal_left = self._caps.deal_output
        self._noisy = False
        self._settle()

    # The way of every move: the answer comes at once, whole and alone. All else has functions of
    # its own.
    def exchange(self, payload: bytes, asked: int, patience: int) -> bytes:
        """Write a request and give the first line that comes, or that had come before.

        It may be blank; those that `next_line` gives are not.

        Args:
            payload: Whole lines.
            asked: The time, in nanoseconds of `time.monotonic_ns`.
            patience: So long from then on may writing and waiting take, in nanoseconds.

        Raises:
            ExchangeError: See there. A line that is complete at the deadline is still given; how
                late is too late is for the clock to say.
        """
        try:
            sent = write(self._stdin, payload)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:  # what it wrote before it ended is still to be read
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
                # Due since the request, as above: what stops the worker here is no bot's fault.
                self._come_back(self._poll.poll(_STEP_MS))
        return self.next_line(asked, patience)

    def _await_answer(self) -> bytes:
        """What has come to stdout within the first step; nothing, if nothing has or it is over."""
        return read(self._stdout, self._at_most) if self._wait_for_answer(_STEP_MS) else b""

    def next_line(self, asked: int, patience: int, received: int = 0) -> bytes:
        """The next line that is not blank, with whatever ended it; as `exchange` otherwise.

        Args:
            asked: As for the `exchange` before.
            patience: Likewise.
            received: How long the line is that it gave.
        """
        if asked != self._asked:
            self._begin(asked, patience, received)
        if self._lines and monotonic_ns() > self._deadline:  # however many there are
            raise ExchangeError("deadline")
        while not self._lines:
            if self._ended:
                raise ExchangeError("ended")
            self._wait()
        line = self._lines.popleft()
        self._settle()
        return line

    def take_late(self, asked: int, now: int) -> tuple[int, int]:
        """Return by how much the waits for an answer came back too late since this was last asked.

        Args:
            asked: As for the `exchange`.
            now: The time; the last wait was over then at the latest. A line that came after it
                should have been over may have come at any time.

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
            self._due = now  # it must not count again with the answer
            self._late += late
            self._latest = max(self._latest, late)

    def _begin(self, asked: int, patience: int, received: int = 0) -> None:
        """Count and time what belongs to a request, once its answer is not there at once."""
        self._asked = asked
        self._received = received
        self._next_look = self._late = self._latest = 0
        self._due = asked + _STEP_NS
        self._deadline = asked + patience

    def _settle(self) -> None:
        careful = self._hurried or self._noisy
        self._plain = not (self._lines or self._partial or careful or self._ended)

    def received(self) -> bytes:
        """An unfinished line, if there is one."""
        return bytes(self._partial)

    def stderr(self) -> str:
        """What the bot wrote to stderr since this was last called; the middle may be cut out."""
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
        """Read what there is, waiting one step at most."""
        now = monotonic_ns()
        left = self._deadline - now
        if left <= 0:
            raise ExchangeError("deadline")
        wait = min(left // _MS + 1, _STEP_MS)
        self._due = now + wait * _MS
        self._come_back(self._poll.poll(wait))

    def _come_back(self, ready: list[tuple[int, int]]) -> None:
        """Read what a wait has brought; if that is nothing, look at the process."""
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
        """Take what has come; says whether there was anything."""
        try:
            data = read(self._stdout, _CHUNK)
        except BlockingIOError:
            return False
        self._take(data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        """Count what has come, and add to the lines that are complete and the one that is not."""
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
        if extra > 0:  # the first lines and the last tell most
            head = self._caps.stderr // 2
            del self._stderr[head : head + extra]
            self._stderr_dropped += extra

    def _drain_stderr(self) -> None:
        # Bounded: a bot that writes as fast as it is read must not hold us here.
        for _ in range(64):
            if not (self._stderr_open and self._errors.poll(0)):
                return
            self._read_stderr()

    def _write_rest(self, payload: bytes) -> None:
        """Write on while reading, for a bot that is slow to read or reads nothing."""
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
