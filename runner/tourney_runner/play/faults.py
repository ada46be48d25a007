"""What a bot can do wrong, as an exception on its way from the pipe to the deal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = ["EndedBeforeError", "Fault", "HostFailureError"]


class Fault(Exception):  # noqa: N818 - the field's word; it is the bot's error, not ours
    """One fault of one bot.

    Args:
        kind: See `results.records.FaultKind`.
        cause: What happened, in plain words for the author of the bot.
        answer: What the bot had written since the request.
        stderr: What it had written to stderr.
    """

    def __init__(self, kind: FaultKind, cause: str, *, answer: str = "", stderr: str = "") -> None:
        super().__init__(f"{kind}: {cause}")
        self.kind = kind
        self.cause = cause
        self.answer = answer
        self.stderr = stderr
        self.spent = 0
        """Nanoseconds that the bot is charged for the request; 0 outside of one."""


class EndedBeforeError(Exception):
    """A process from an earlier deal has ended before its first answer in this one.

    When it did so nobody can say, and which deals a process sees depends on how they are shared out
    among workers. So that no table depends on it, a fresh process is asked the same.
    """


class HostFailureError(Exception):
    """The host spoilt a move, so that nobody can say whose fault its delay is: the deal is void.

    Args:
        bot: Whose move it was.
        cause: What the host did.
    """

    def __init__(self, bot: str, cause: str) -> None:
        super().__init__(f"a move of {bot} was spoilt: {cause}")
