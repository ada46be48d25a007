"""Errors that the user can fix.

Each message states the problem, its place and a remedy. The command line prints these as one plain
line and sets the exit status; any other exception that reaches the user is a bug.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ConfigError", "DamageError", "Interrupted", "RunError", "TourneyError", "UsageError"]


class TourneyError(Exception):
    """The base class of these errors; `exit_status` is the exit status of the process."""

    exit_status: ClassVar[int] = 1


class UsageError(TourneyError):
    """A wrong command, bot or folder. Nothing was played or changed."""

    exit_status = 2


class ConfigError(UsageError):
    """A wrong configuration, with all problems that were found, one line each.

    Args:
        problems: Lines of the form ``FILE:LINE:COLUMN: key.path: what is wrong``.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RunError(TourneyError):
    """A failure that stopped the run, such as a full disk.

    Stored results are safe, and the run can be continued.
    """


class DamageError(RunError):
    """Stored results that differ from what was written, so that nothing is computed from them."""


class Interrupted(TourneyError):  # noqa: N818 - it is an ending, not a mistake
    """A run that was stopped by a signal.

    Args:
        message: What was kept and how to continue.
        signal_number: The signal; the exit status is 128 + this number, as in shells.
    """

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.signal_number = signal_number
