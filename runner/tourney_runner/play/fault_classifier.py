"""Classify faults: turn what was observed of a bot into a kind of fault and a cause."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.errors import RunError
from tourney_runner.play.faults import Fault

if TYPE_CHECKING:
    from tourney_runner.process.channel import Caps, ExchangeError
    from tourney_runner.process.child import Exit
    from tourney_runner.process.launcher import Program
    from tourney_runner.results.records import FaultKind

__all__ = ["Blame", "at_start", "ending", "excess", "hosts_failure", "seconds", "silence"]

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
        what = "only lines that are no answer"
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
