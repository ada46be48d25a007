"""A check of a bot's raw output and of its exit, for what works but causes trouble later."""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.protocol.lines import encode
from tourney_runner.protocol.messages import Result

if TYPE_CHECKING:
    from tourney_runner.botcheck.trial_table import Position, Table
    from tourney_runner.play.bot import Bot
    from tourney_runner.process.child import Child
    from tourney_runner.protocol.messages import Ready

__all__ = ["OutputLint", "lint_output"]

_GRACE = 2.0
"""Seconds that a bot gets to exit after the end of its input; a tournament allows a tenth."""
_STEP = 0.002
_LARGE = 4096
"""Bytes of a line; longer ones often arrive in several pieces through a pipe."""


@dataclass
class OutputLint:
    """The observations of one conversation."""

    lines: list[bytes] = field(default_factory=list)
    """All lines of stdout."""
    pieces: int = 0
    """The largest number of reads that one short line took."""
    stderr: int = 0
    """Bytes of stderr in one deal."""
    early: bool = False
    """True if the bot exited before the end of its input."""
    ended: bool = False
    """True if the bot exited at the end of its input."""
    left: int = 0
    """The number of processes that it left behind."""

    def remarks(self, table: Table) -> list[tuple[str, str]]:
        """Return the observation and the fix for each problem."""
        most = table.settings.limits.stderr
        found = [
            (seen, fix)
            for bad, seen, fix in (
                (
                    any(line.endswith(b"\r\n") for line in self.lines),
                    r"its lines end with \r\n",
                    r"allowed, but \n is enough: write bytes, or set the newline of stdout",
                ),
                (
                    self.pieces > 1,
                    f"it writes a line in {self.pieces} pieces",
                    "put the line together first and write it at once: each piece is a delay",
                ),
                (
                    not all(map(_is_text, self.lines)),
                    "it writes bytes to stdout that are not UTF-8",
                    "such lines are dropped: write UTF-8, and only answers",
                ),
                (
                    self.stderr > most,
                    f"it wrote {self.stderr} bytes to stderr in one deal",
                    f"only {most} are kept, and writing takes time: print less",
                ),
                (
                    self.early,
                    "it ended between two deals, before its input did",
                    "go on until stdin ends: a tournament would start it again for every deal",
                ),
                (
                    not self.ended,
                    f"it does not end within {_GRACE:g} s of the end of its input",
                    "exit when stdin ends, and do not ignore SIGTERM: a tournament kills it",
                ),
                (
                    self.left > 0,
                    f"it left processes behind: {self.left}",
                    "end what it has started before it ends: a tournament kills them",
                ),
            )
            if bad
        ]
        if twice := self._fields_given_twice():
            found.append(
                (
                    f"its answers give a field twice: {', '.join(sorted(twice))}",
                    "only the last one counts: give each field once",
                )
            )
        if extra := self._extra_fields(table):
            found.append(
                (
                    f"its answers have fields that are not read: {', '.join(sorted(extra))}",
                    "they are ignored; leave them out, or use `debug` for notes",
                )
            )
        return found

    def _fields_given_twice(self) -> set[str]:
        twice: set[str] = set()

        def note(pairs: list[tuple[str, object]]) -> dict[str, object]:
            names = [name for name, _ in pairs]
            twice.update(name for name in names if names.count(name) > 1)
            return dict(pairs)

        for line in self.lines:
            with contextlib.suppress(ValueError):
                json.loads(line, object_pairs_hook=note)
        return twice

    def _extra_fields(self, table: Table) -> set[str]:
        known = {field.encode_name for field in msgspec.structs.fields(table.game.answer)}
        extra: set[str] = set()
        for line in self.lines:
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and "id" in answer:
                    extra |= answer.keys() - known
        return extra


def lint_output(bot: Bot, table: Table, position: Position, ready: Ready) -> OutputLint:
    """Talk with a fresh process of a bot: a move, the result, the same again, the end of input.

    Args:
        bot: The bot, which has started and answered before.
        table: The rules and limits.
        position: A position in which the bot has to move.
        ready: The bot's earlier `ready` message.
    """
    child = table.launcher.start(bot.program, table.setup().resources)
    listener = _Listener(child)
    try:
        listener.send(table.player(bot).hello, table.settings.time.start_ms / 1000, answers=1)
        request = table.greeting(position) + table.request(position, ready)
        patience = 5 * table.settings.time.move_ms / 1000
        listener.send(request, patience, answers=1)
        result = Result((1,) * position.state.players, (0.0,) * position.state.players, [])
        first_deal = listener.lint.stderr
        listener.send(encode(result) + request, patience, answers=1)
        listener.lint.early = not listener.answers and child.wait(_GRACE)
        listener.send(encode(result), 0, answers=0)
        listener.lint.stderr = max(first_deal, listener.lint.stderr - first_deal)
        _see_the_end(child, listener)
    finally:
        child.kill()
    return listener.lint


def _see_the_end(child: Child, listener: _Listener) -> None:
    """Close the input and watch the processes until the bot's own is over.

    A sandbox ends with the bot and kills all other processes. So the processes seen at the last
    look before that are counted, unless the bot's own process only waits for them, as a shell does.
    """
    own = next(iter(child.processes()), child.pid)
    waits = _waits(own)
    others: list[int] = []
    child.close_input()
    until = time.monotonic() + _GRACE
    while not child.has_exited() and time.monotonic() < until:
        processes = child.processes()
        if own in processes:
            others = [pid for pid in processes if pid != own]
        listener.listen(_STEP)
    listener.lint.ended = child.has_exited()
    listener.listen(0)
    if listener.lint.ended and not waits:
        listener.lint.left = len(others)


def _waits(pid: int) -> bool:
    """Return whether a process only waits for other processes to end."""
    try:
        return "wait" in Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        return False


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Listener:
    """A reader of both outputs of a bot, piece by piece as they arrive."""

    def __init__(self, child: Child) -> None:
        self.lint = OutputLint()
        self._child = child
        self._line = b""
        self._pieces = 0
        self.answers = 0
        """The number of JSON objects received since the last message was written."""
        self._poll = select.poll()
        self._open = {child.stdout, child.stderr}
        for stream in self._open:
            self._poll.register(stream, select.POLLIN)

    def send(self, data: bytes, seconds: float, *, answers: int) -> None:
        """Write lines and read until `answers` objects have arrived or the time is over."""
        self.answers = 0
        rest = memoryview(data)
        until = time.monotonic() + seconds
        while rest or (self.answers < answers and time.monotonic() < until and self._open):
            if rest:
                try:
                    rest = rest[os.write(self._child.stdin, rest) :]
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    return
            self.listen(0.05 if not rest else 0.001)

    def listen(self, seconds: float) -> None:
        """Read the available output; wait at most `seconds` for the first of it."""
        for stream, _ in self._poll.poll(seconds * 1000):
            try:
                data = os.read(stream, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                self._poll.unregister(stream)
                self._open.discard(stream)
            elif stream == self._child.stderr:
                self.lint.stderr += len(data)
            else:
                self._take(data)

    def _take(self, data: bytes) -> None:
        self._pieces += 1
        *whole, rest = (self._line + data).split(b"\n")
        for number, line in enumerate(whole):
            if len(line) < _LARGE:
                self.lint.pieces = max(self.lint.pieces, self._pieces if not number else 1)
            self.lint.lines.append(line + b"\n")
            self.answers += line.lstrip().startswith(b"{") and (b'"id"' in line or b"ready" in line)
        if whole:
            self._pieces = 1 if rest else 0
        self._line = rest
