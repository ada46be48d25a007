"""What a bot can do wrong, as an exception on its way from the pipe to the deal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = ["EndedBeforeError", "Fault", "HostFailureError", "VoidTwiceError"]


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
    """The host failed during a move, so it is unknown who caused the delay: the deal is void.

    Args:
        bot: The name of the bot that was to move.
        cause: What the host did.
    """

    def __init__(self, bot: str, cause: str) -> None:
        super().__init__(f"a move of {bot} was void: {cause}")


class VoidTwiceError(Exception):
    """A deal was void twice, so it has to be played where nothing else runs.

    Args:
        deal: The number of the deal in its match.
        voids: What the host did each time.
    """

    def __init__(self, deal: int, voids: tuple[str, ...]) -> None:
        super().__init__(f"deal {deal + 1} was void {len(voids)} times: {voids[-1]}")
        self.deal = deal
        self.voids = voids
