"""A player: runs a bot's process, sends it requests, reads its answers and charges its time."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, Literal

from tourney_runner.errors import RunError
from tourney_runner.games.base import Answer
from tourney_runner.play.faults import (
    EndedBeforeError,
    Fault,
    HostFailureError,
    at_start,
    ending,
    excess,
    hosts_failure,
    seconds,
    silence,
)
from tourney_runner.process.channel import Caps, Channel, ExchangeError
from tourney_runner.process.cores import Handover
from tourney_runner.protocol.lines import (
    UNREADABLE,
    AnswerReader,
    Noise,
    WrongShape,
    quoted,
    read_ready,
)
from tourney_runner.protocol.messages import Ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.play.bot import Bot
    from tourney_runner.process.child import Child, Exit
    from tourney_runner.process.clock import Charge, Clock, Watch
    from tourney_runner.process.launcher import Launcher, ResourceLimits
    from tourney_runner.results.records import FaultKind, NoteKind

__all__ = ["Player", "PlayerSetup"]

_EXIT_GRACE = 1.0
"""Seconds for a process that closed its output to end, so that its exit status is known."""

_NOTES = 50
"""Maximum number of stray lines that are noted."""

_UNREADABLE = Answer(id=-1)
"""Stands for an unreadable line. No request has this id."""

_SLOW_SHARE = 2
"""A move that takes at least 1/2 of its limit is analysed."""

_LATE_SHARE, _LATE_LEAST = 4, 100_000_000
"""Waiting ends when the bot's own time is over the limit by 1/4 and by this many nanoseconds."""

_HOPELESS = 4
"""A bot that used this many times its limit is late, no matter what the host did."""

_DECISIVE = 5
"""If the result counts in any case, the clock's patience is multiplied by this."""

_PONDERED = 10_000_000
"""Nanoseconds of thinking in other players' time, per deal, after which a bot is stopped then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSetup:
    """The setup shared by all players of a worker. Times are in nanoseconds."""

    hello: bytes
    reader: AnswerReader[Any]
    launcher: Launcher
    clock: Clock
    start_limit: int
    resources: ResourceLimits
    caps: Caps
    strict: bool
    ponder: bool
    """Whether bots may think while other players are to move."""
    waiting: Callable[[str], None] | None = None
    """Called from time to time with the name of the bot that a move waits for."""
    handover: Handover = field(default_factory=Handover)
    """Decides whether the core is handed to a bot after a request."""


class Player:
    """A bot in one worker. It has at most one process at a time, kept from deal to deal."""

    def __init__(self, bot: Bot, setup: PlayerSetup) -> None:
        self.bot = bot
        self.ready = Ready()
        self.running = False
        """Whether a process exists and has sent ``ready``."""
        self.lists: Literal["canonical", "all"] | None = None
        """The mode of the list of legal plays that the bot asked for."""
        self.notes: list[tuple[NoteKind, str]] = []
        """Notes on the deal for the bot's log. The reader clears the list."""
        self.slow: list[tuple[int, Charge]] = []
        """Request ids and charges of slow answers. The reader clears the list."""
        self.decisive = False
        """Whether the deal was void before, so that delays by the host do not make it void again.
        Change it only while no process exists."""
        self._setup = setup
        self._decode = setup.reader.decode
        self._child: Child | None = None
        self._channel: Channel | None = None
        self._exchange: Callable[[bytes, int, int], bytes] = _nobody
        self._watch: Watch | None = None
        self._pondered = 0
        self._frozen = False
        self._limit = self._late_at = self._patience = self._quick = 0
        self._usual = 0
        """The limit of the last request if the next one needs no preparation, else 0."""
        self._used = self._check_at = 0
        self._deals = self._used_before = 0
        """The number of deals sent to the process, and `_used` at the start of the last one."""
        self._suspected = False
        self._outbox: list[bytes] = []
        self.line = b""
        """The last line that was taken as an answer, as the bot wrote it."""
        self._unused: list[bytes] = []
        self._stray = False

    def start(self) -> None:
        """Start a process and wait until it is ready.

        Raises:
            Fault: The bot failed to start, kind ``start`` or ``memory``. No process is left.
            HostFailureError: The host is to blame. No process is left.
        """
        setup = self._setup
        began = monotonic_ns()
        program = self.bot.program
        try:
            self._child = setup.launcher.start(program, setup.resources)
        except (OSError, ValueError, RunError) as error:  # ValueError: a word with a NUL
            if hosts_failure(error, program):
                raise HostFailureError(
                    self.bot.name, f"it could not be started: {error}"
                ) from error
            raise Fault("start", f"it could not be started: {error}") from error
        self._watch = setup.clock.watch(self._child)
        self._used = self._check_at = self._deals = 0
        self._suspected = False
        self._pondered = 0
        self._frozen = False
        self._channel = Channel(self._child, setup.caps, handover=setup.handover, step=self._step)
        self._exchange = self._channel.exchange
        self._forget_lines()
        self._allow(setup.start_limit)
        try:
            self.ready = self._await_ready(self._channel, began)
            wall = monotonic_ns() - began
            if wall > setup.start_limit:
                self._judge(self._charge(began, wall), 0)
        except ExchangeError as error:
            raise at_start(self._failed(error, began)) from error
        except Fault as fault:
            raise at_start(fault) from fault
        self.lists = None if self.ready.legal == "none" else self.ready.legal
        self.running = True

    def tell(self, message: bytes) -> None:
        """Queue a message that needs no answer. It is sent in one write with the next request."""
        self._outbox.append(message)
        self._usual = 0

    def new_deal(self, message: bytes) -> None:
        """Queue the message that opens a deal."""
        self._pondered = 0
        self._deals += 1
        self._used_before = self._used
        now = monotonic_ns()
        if self._watch is not None and now >= self._check_at:
            self._watch.deal(now, self._used)
            self._check_at, self._suspected = self._watch.next_check, self._watch.suspects
        if self._channel is not None:
            self._channel.deal()
        self.tell(message)

    # This runs for every move, so rare cases are handled in other methods.
    def ask(self, request: bytes, request_id: int, limit: int) -> tuple[Answer, int]:
        """Send a request and wait for its answer.

        Args:
            request: A `Move`, encoded as a line.
            request_id: Its id.
            limit: The time limit in nanoseconds.

        Returns:
            The answer and the time charged for it, in nanoseconds.

        Raises:
            Fault: The bot failed. Its process is ended.
            EndedBeforeError: The process ended between two deals.
            HostFailureError: The host is to blame. The process is ended.
        """
        if limit != self._usual:
            request = self._prepare(request, limit)
        pondered = 0
        if (began := monotonic_ns()) >= self._check_at:
            pondered = self._check(began)
            began = monotonic_ns()
        exchange, decode = self._exchange, self._decode  # local names are faster to call
        try:
            line = exchange(request, began, self._patience)
            try:
                answer = decode(line)
            except UNREADABLE:
                answer = _UNREADABLE
            if answer.id != request_id:
                line, answer = self._hear_on(line, request_id, began, pondered)
            self.line = line
            charged = wall = monotonic_ns() - began
            if pondered or wall > self._quick:
                charged = self._weigh(began, wall, pondered, request_id, line)
        except Fault as fault:
            fault.spent = fault.spent or monotonic_ns() - began
            raise
        except ExchangeError as error:
            spent = monotonic_ns() - began
            failed = self._failed(error, began)
            failed.spent = failed.spent or spent
            raise failed from error
        self._used += wall
        if self._suspected:
            self._answered(began + wall)
        return answer, charged

    def fault(self, kind: FaultKind, cause: str, line: bytes = b"") -> Fault:
        """End the process because of a fault and return the fault with all evidence."""
        evidence = self._evidence(line)
        stderr, _ = self._end()
        return Fault(kind, cause, answer=evidence, stderr=stderr)

    def take_stderr(self) -> str:
        """Return what the bot wrote to stderr since the last call."""
        return "" if self._channel is None else self._channel.stderr()

    def farewell(self) -> None:
        """Send queued messages and close the bot's input. Call `stop` afterwards."""
        if self._child is None:
            return
        if self._frozen:
            self._child.thaw()
        with suppress(OSError):
            os.write(self._child.stdin, b"".join(self._outbox))
        self._outbox.clear()
        self._child.close_input()

    def wait(self, grace: float) -> bool:
        """Wait up to `grace` seconds after `farewell`; return whether the bot ended by itself."""
        return self._child is None or self._child.wait(grace)

    def stop(self) -> None:
        """End the process and everything it started. May be called at any time.

        Slow answers that were not read yet are dropped, as they belong to a void deal.
        """
        self._outbox.clear()
        self.slow.clear()
        self._end()

    def _end(self) -> tuple[str, Exit | None]:
        """End the process, if there is one, and return its last stderr and how it ended."""
        stderr = self.take_stderr()
        ended = None if self._child is None else self._child.kill()
        self.running = False
        self._child = None
        self._channel = None
        self._exchange = _nobody
        self._watch = None
        self._outbox.clear()
        return stderr, ended

    def _evidence(self, line: bytes = b"") -> str:
        """Return what the bot wrote since the request."""
        lines = [*self._unused, line.rstrip()]
        if self._channel is not None:
            lines.append(self._channel.received())
        return quoted(b"\n".join(filter(None, lines)))

    def _await_ready(self, channel: Channel, began: int) -> Ready:
        line = channel.exchange(self._setup.hello, began, self._patience)
        message = read_ready(line)
        while isinstance(message, Noise):
            self._note(message, line)
            message = read_ready(line := channel.next_line(began, self._patience, len(line)))
        if isinstance(message, WrongShape):
            raise self.fault("start", f"its ready message has a wrong shape: {message.why}", line)
        return message

    def _hear_on(
        self, line: bytes, request_id: int, began: int, pondered: int
    ) -> tuple[bytes, Answer]:
        """Return the first line, from this one on, that answers the request; raises like `ask`."""
        while isinstance(meaning := self._setup.reader.read(line, request_id), Noise):
            self._note(meaning, line)
            if self._channel is None:
                raise RuntimeError("no running process can be heard")
            line = self._channel.next_line(began, self._patience, len(line))
        if isinstance(meaning, WrongShape):
            self._weigh(began, monotonic_ns() - began, pondered, request_id, line)
            raise self.fault("malformed", f"its answer has a wrong shape: {meaning.why}", line)
        return line, meaning

    def _prepare(self, request: bytes, limit: int) -> bytes:
        """Prepare for a request unlike the last: join queued messages to it and set its timing."""
        self._forget_lines()
        if limit != self._limit:
            self._allow(limit)
        self._usual = limit
        request = b"".join((*self._outbox, request))
        self._outbox.clear()
        return request

    def _check(self, now: int) -> int:
        """Let a stopped bot go on and return the charge for thinking in other players' time."""
        if self._watch is None:
            raise RuntimeError("only a running process can be checked")
        pondered = self._watch.check(now, self._used)
        self._check_at, self._suspected = self._watch.next_check, self._watch.suspects
        return self._woken(pondered) if pondered or self._frozen else 0

    def _answered(self, now: int) -> None:
        """Report a suspect's answer to its watch; stop the bot until its next turn if needed."""
        if self._watch is not None:
            self._watch.answered(now, self._used)
        if self._frozen and self._child is not None:
            self._child.freeze()

    def _forget_lines(self) -> None:
        self._unused.clear()
        self._stray = False

    def _step(self, asked: int, late: int, latest: int) -> None:
        """Check on a bot that has not answered. Raise ExchangeError once it is certainly late."""
        if self._watch is not None:
            self._watch.step(asked, late, latest)
            wall = monotonic_ns() - asked
            if wall >= self._late_at and self._is_late(self._watch.charge(asked, wall)):
                raise ExchangeError("deadline")
        if self._setup.waiting is not None:
            self._setup.waiting(self.bot.name)

    def _is_late(self, charge: Charge) -> bool:
        doubtful = charge.spoilt and not self.decisive
        return charge.charged >= (_HOPELESS * self._limit if doubtful else self._late_at)

    def _allow(self, limit: int) -> None:
        """Compute how long to wait; kept because nearly all requests have the same limit."""
        self._limit = limit
        if self._channel is not None:
            self._channel.allow(limit)
        self._patience = self._setup.clock.patience(limit)
        if self.decisive:
            self._patience *= _DECISIVE
        self._late_at = limit + max(limit // _LATE_SHARE, _LATE_LEAST)
        self._quick = min(Handover.QUICK, limit // _SLOW_SHARE)

    def _woken(self, pondered: int) -> int:
        """Let a stopped bot go on, and return the charge for thinking in other players' time."""
        if self._frozen and self._child is not None:
            self._child.thaw()
        if self._setup.ponder:
            return 0
        self._pondered += pondered
        if self._pondered > _PONDERED and not self._frozen:
            self._frozen = True
            text = (
                f"it used {seconds(self._pondered)} of processor time while others were to move:"
                " that is charged, and it is stopped between its turns from now on"
            )
            self.notes.append(("pondered", text))
        return pondered

    def _weigh(self, began: int, wall: int, pondered: int, request_id: int, line: bytes) -> int:
        """Return the charge for an answer that may be slow; raises like `ask` if it is too late."""
        if wall > self._quick:
            self._setup.handover.pause(began, wall)
        if wall + pondered <= self._limit // _SLOW_SHARE:
            return wall + pondered
        charge = self._charge(began, wall)
        self.slow.append((request_id, charge))
        return self._judge(charge, pondered, line)

    def _judge(self, charge: Charge, pondered: int, line: bytes = b"") -> int:
        """Return the wall time, or the bot's own time if only that is in the limit; may raise."""
        limit = self._limit
        if charge.wall + pondered <= limit:
            return charge.wall + pondered
        charged = charge.charged + pondered
        if charged <= limit:
            return charged
        self._blame_host(charge)
        cause = f"it answered after {seconds(charged)}; the limit was {seconds(limit)}"
        fault = self.fault("malformed" if self._stray else "timeout", cause, line)
        fault.spent = charged
        raise fault

    def _charge(self, began: int, wall: int) -> Charge:
        if self._watch is None or self._channel is None:
            raise RuntimeError("only a running process can be charged")
        late, latest = self._channel.take_late(began, monotonic_ns())
        return self._watch.charge(began, wall, late, latest)

    def _blame_host(self, charge: Charge) -> None:
        """Raise HostFailureError if the host may be to blame for a delay.

        A bot whose own time is `_HOPELESS` times its limit is late, no matter what the host did.
        """
        if charge.spoilt and charge.charged < _HOPELESS * self._limit and not self.decisive:
            self._end()
            raise HostFailureError(self.bot.name, charge.spoilt)

    def _note(self, noise: Noise, line: bytes) -> None:
        if line.isspace():
            return
        if len(self.notes) < _NOTES:
            self.notes.append((noise.kind, f"{noise.why}: {quoted(line, 200)}"))
        if len(self._unused) < _NOTES:
            self._unused.append(line.rstrip())
        self._usual = 0
        if noise.kind == "stray":
            self._stray = True
            if self._setup.strict:
                raise self.fault("malformed", f"a line that is not an answer ({noise.why})")

    def _failed(self, error: ExchangeError, began: int) -> Fault:
        """Return the fault behind a missing reply; raises like `ask` if it is not a fault."""
        setup = self._setup
        too_much = excess(error, setup.caps, setup.resources.processes)
        if too_much is not None:
            return self.fault(*too_much)
        if error.reason == "deadline":
            return self._too_long(began)
        evidence = self._evidence()
        by_itself = self._child is not None and self._child.wait(_EXIT_GRACE)
        stderr, ended = self._end()
        if ended is not None and ended.host_out_of_memory:
            raise HostFailureError(self.bot.name, "the host ended it for want of memory")
        kind, cause = ending(ended if by_itself else None, stderr, setup.caps)
        if self._deals > 1 and self._used == self._used_before:
            self.notes.append(("ended", f"{cause}, between two deals: it is started again"))
            if stderr:
                self.notes.append(("stderr", stderr))
            raise EndedBeforeError
        return Fault(kind, cause, answer=evidence, stderr=stderr)

    def _too_long(self, began: int) -> Fault:
        limit, wall = self._limit, monotonic_ns() - began
        charge = self._charge(began, wall)
        self._blame_host(charge)
        if charge.charged < limit and not self.decisive:
            self._end()
            starved = f"it got no core for {seconds(charge.waiting)} of {seconds(wall)}"
            raise HostFailureError(self.bot.name, starved)
        begun = self._channel is not None and self._channel.received() != b""
        stale, answered = bool(self._unused), self._used > 0
        kind, cause = silence(limit, stray=self._stray, begun=begun, stale=stale, answered=answered)
        fault = self.fault(kind, cause)
        fault.spent = charge.charged
        return fault


def _nobody(_payload: bytes, _asked: int, _patience: int) -> bytes:
    """Stand in for `Channel.exchange` while there is no process."""
    raise RuntimeError("a bot can only be asked while it runs: call start first")
