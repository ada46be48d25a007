"""Faults of bots and failures of the host: their exceptions, and how a failure is classified."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError

if TYPE_CHECKING:
    from tourney_runner.process.channel import Caps, ExchangeError
    from tourney_runner.process.child import Exit
    from tourney_runner.process.launcher import Program
    from tourney_runner.results.records import FaultKind

__all__ = [
    "Blame",
    "EndedBeforeError",
    "Fault",
    "HostFailureError",
    "VoidTwiceError",
    "at_start",
    "ending",
    "excess",
    "hosts_failure",
    "seconds",
    "silence",
]


class Fault(Exception):  # noqa: N818 - the field's word; it is the bot's error, not ours
    """A fault of a bot.

    Args:
        kind: See `results.records.FaultKind`.
        cause: The cause in plain words, for the bot's author.
        answer: The output of the bot since the request.
        stderr: The bot's stderr.
    """

    def __init__(self, kind: FaultKind, cause: str, *, answer: str = "", stderr: str = "") -> None:
        super().__init__(f"{kind}: {cause}")
        self.kind = kind
        self.cause = cause
        self.answer = answer
        self.stderr = stderr
        self.spent = 0
        """The nanoseconds charged to the bot for the request; 0 outside of a request."""


class EndedBeforeError(Exception):
    """A process from an earlier deal ended before its first answer in this deal.

    The exact time of its end is unknown, and the deals that a process sees depend on how deals are
    shared among workers. A new process gets the same request, so that no result depends on this.
    """


class HostFailureError(Exception):
    """The host failed during a move, so the cause of the delay is unknown and the deal is void.

    Args:
        bot: The name of the bot that was to move.
        cause: The failure of the host.
    """

    def __init__(self, bot: str, cause: str) -> None:
        super().__init__(f"a move of {bot} was void: {cause}")


class VoidTwiceError(Exception):
    """A deal was void twice and has to be played again while nothing else runs.

    Args:
        deal: The number of the deal in its match.
        voids: The failures of the host, one for each attempt.
    """

    def __init__(self, deal: int, voids: tuple[str, ...]) -> None:
        super().__init__(f"deal {deal + 1} was void {len(voids)} times: {voids[-1]}")
        self.deal = deal
        self.voids = voids


Blame = tuple["FaultKind", str]
"""The kind of a fault and its cause in plain words, for the bot's author."""

_HOST_ERRORS = {
    errno.EAGAIN,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
}

_OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "OutOfMemoryError", "out of memory", "Out of memory")


def seconds(nanoseconds: int) -> str:
    """Return a duration as text, such as ``1.5 s``."""
    return f"{nanoseconds / 1e9:.3f}".rstrip("0").rstrip(".") + " s"


def hosts_failure(error: Exception, program: Program) -> bool:
    """Return whether a start failed because of the host and not because of the bot."""
    if isinstance(error, RunError):
        return True
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        if not Path(program.folder).is_dir():  # the bot was staged, so its folder was removed later
            return True
        # Everything of the bot exists, so a temporary folder is missing. But if the error names the
        # program itself, the interpreter in its first line is missing.
        said_of = getattr(error, "filename", None)
        return Path(program.command[0]).exists() and said_of != program.command[0]
    return number in _HOST_ERRORS


def at_start(fault: Fault) -> Fault:
    """Return a fault before ``ready`` as a start fault. Memory faults keep their kind."""
    kind: FaultKind = "memory" if fault.kind == "memory" else "start"
    cause = f"before it was ready: {fault.cause}"
    return Fault(kind, cause, answer=fault.answer, stderr=fault.stderr)


def excess(error: ExchangeError, caps: Caps, processes: int | None) -> Blame | None:
    """Return the limit that a bot exceeded, or None if the exchange failed for another reason."""
    match error.reason:
        case "flood":
            return "flood", f"it wrote more than {caps.output} bytes for one answer"
        case "deal flood":
            return "flood", f"it wrote more than {caps.deal_output} bytes in one deal"
        case "memory":
            return "memory", f"it used more than {_mib(caps)} of memory"
        case "processes":  # without a system limit, the runner ends the bot
            return "crash", f"it had more than {processes} processes and threads at a time"
    return None


def ending(ended: Exit | None, stderr: str, caps: Caps) -> Blame:
    """Return the fault of a process that ended while it owed an answer.

    Args:
        ended: The ending of the process, or None if the runner had to end it.
        stderr: The last part of its stderr.
        caps: The limits of the bot.
    """
    if ended is None:
        return "crash", "it closed its output without an answer"
    if _ran_out_of_memory(ended, stderr, caps):
        return "memory", f"it {ended}: its memory of {_mib(caps)} was used up"
    return "crash", f"it {ended} without an answer"


def silence(limit: int, *, stray: bool, begun: bool, stale: bool, answered: bool) -> Blame:
    """Return the fault of a request that ran out of time. Stray lines explain why.

    Args:
        limit: The time limit in nanoseconds.
        stray: Whether lines were received that are not answers.
        begun: Whether an unfinished line was received.
        stale: Whether answers to other requests were received.
        answered: Whether the bot has answered a request before.
    """
    if stray:
        what = "only lines that are not answers"
    elif begun:
        what = "a line was begun: does it end with a newline?"
    elif stale:
        what = "only answers to other requests"
    elif answered:
        what = "it answered before: did it think too long, or leave out an answer?"
    else:
        what = "nothing was received: did the bot flush its output?"
    return "malformed" if stray else "timeout", f"no answer within {seconds(limit)}; {what}"


def _mib(caps: Caps) -> str:
    return f"{(caps.memory or 0) >> 20} MiB"


def _ran_out_of_memory(ended: Exit, stderr: str, caps: Caps) -> bool:
    """Return whether memory ran out when a process crashed; most limits just fail allocations."""
    if ended.out_of_memory:
        return True
    if caps.memory is None:
        return False
    return ended.peak_memory > 0.9 * caps.memory or any(word in stderr for word in _OUT_OF_MEMORY)
