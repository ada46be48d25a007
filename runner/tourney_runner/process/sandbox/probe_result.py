"""Results of probing the machine: protections that work, and what others lack."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding", "UnavailableError"]


@dataclass(frozen=True)
class Finding:
    """The result of probing one protection."""

    name: str
    works: bool
    detail: str
    """The active protections, or the missing part."""
    remedy: str = ""
    """Instructions for getting the missing part."""


class UnavailableError(Exception):
    """A protection is not available on this machine.

    Args:
        why: The missing part.
        remedy: Instructions for getting it.
    """

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy
