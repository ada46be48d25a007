"""What a look at the machine found: protections that work, and what is missing for others."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding", "UnavailableError"]


@dataclass(frozen=True)
class Finding:
    """One line for whoever asks why bots are protected as they are."""

    name: str
    works: bool
    detail: str
    """What is active, or what is missing."""
    remedy: str = ""
    """How to get what is missing."""


class UnavailableError(Exception):
    """A protection cannot be had on this machine.

    Args:
        why: What is missing.
        remedy: How to get it.
    """

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy
