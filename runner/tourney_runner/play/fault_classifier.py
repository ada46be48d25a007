"""Whose fault it is and in which words: from what was seen of a bot to a kind and a cause."""

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
"""The kind of a fault and its cause in plain words, for the author of the bot."""

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
    """A duration for people."""
    return f"{nanoseconds / 1e9:.3f}".rstrip("0").rstrip(".") + " s"


def hosts_failure(error: Exception, program: Program) -> bool:
    """Whether a start failed for want of something that the host should have."""
    if isinstance(error, RunError):
        return True
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        if not Path(program.folder).is_dir():  # it was staged, so somebody has removed it
            return True
        # All that is the bot's is there: a temporary folder is not. But said of a program that is
        # there, it means the interpreter that its first line names.
        said_of = getattr(error, "filename", None)
        return Path(program.command[0]).exists() and said_of != program.command[0]
    return number in _HOST_ERRORS


def at_start(fault: Fault) -> Fault:
    """A fault before ``ready`` is one of starting, whatever it looked like."""
    kind: FaultKind = "memory" if fault.kind == "memory" else "start"
    cause = f"before it was ready: {fault.cause}"
    return Fault(kind, cause, answer=fault.answer, stderr=fault.stderr)


def excess(error: ExchangeError, caps: Caps, processes: int | None) -> Blame | None:
    """What a bot took more of than it may; None if the exchange failed for another reason."""
    match error.reason:
        case "flood":
            return "flood", f"it wrote more than {caps.output} bytes for one answer"
        case "deal flood":
            return "flood", f"it wrote more than {caps.deal_output} bytes in one deal"
        case "memory":
            return "memory", f"it used more than {_mib(caps)} of memory"
        case "processes":  # where the system holds a bot to that, it ends by itself
            return "crash", f"it had more than {processes} processes and threads at a time"
    return None


def ending(ended: Exit | None, stderr: str, caps: Caps) -> Blame:
    """What the end of a process that owed an answer is.

    Args:
        ended: How it ended; None if it had to be ended.
        stderr: The last that it wrote there.
        caps: What it may use.
    """
    if ended is None:
        return "crash", "it closed its output without an answer"
    if _ran_out_of_memory(ended, stderr, caps):
        return "memory", f"it {ended}: its memory of {_mib(caps)} was used up"
    return "crash", f"it {ended} without an answer"


def silence(limit: int, *, stray: bool, begun: bool, stale: bool, answered: bool) -> Blame:
    """What a request is that ran out of time: lines that are no answer say why it did.

    Args:
        limit: Nanoseconds.
        stray: Whether lines came that are no answer.
        begun: Whether a line was begun.
        stale: Whether answers to other requests came.
        answered: Whether the bot has answered before.
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
    """Whether a crash was the end of the memory: most limits make allocations fail, no more."""
    if ended.out_of_memory:
        return True
    if caps.memory is None:
        return False
    return ended.peak_memory > 0.9 * caps.memory or any(word in stderr for word in _OUT_OF_MEMORY)
