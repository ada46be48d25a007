"""Exceptions for faults of bots and failures of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = ["EndedBeforeError", "Fault", "HostFailureError", "VoidTwiceError"]


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
