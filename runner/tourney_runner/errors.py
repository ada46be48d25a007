"""Everything that can go wrong in a way the user can mend.

Each message says what is wrong, where, and what to do. The command line turns these into one
plain line and an exit status; anything else that reaches the user is a bug.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ConfigError", "DamageError", "Interrupted", "RunError", "TourneyError", "UsageError"]


class TourneyError(Exception):
    """The root of the family; `exit_status` is what the process ends with."""

    exit_status: ClassVar[int] = 1


class UsageError(TourneyError):
    """A wrong command, bot or folder: nothing was played, nothing was changed."""

    exit_status = 2


class ConfigError(UsageError):
    """A wrong configuration; holds every problem that was found, one line each.

    Args:
        problems: Lines of the form ``FILE:LINE:COLUMN: key.path: what is wrong``.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RunError(TourneyError):
    """The run had to stop (a full disk, say); what is stored is safe and can be continued."""


class DamageError(RunError):
    """Stored results are not as they were written, so nothing is computed from them."""


class Interrupted(TourneyError):  # noqa: N818 - it is an ending, not a mistake
    """A signal asked the run to stop.

    Args:
        message: What was kept and how to go on.
        signal_number: The signal; the exit status is 128 more, as shells have it.
    """

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.signal_number = signal_number
