"""What a verification comes to."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Finding", "Report", "Where"]

Where = Literal["store", "rules", "schedule", "tables", "play"]
"""What is wrong: a row of the file, a deal by the rules, the set of deals, the published tables,
or a deal that came out otherwise when it was played again."""


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it should be."""

    where: Where
    text: str
    deal: int | None = None
    """The number of the deal in schedule order, from 1."""


class Report(msgspec.Struct, frozen=True):
    """All that a verification has found."""

    deals: int
    """Whose moves were played again by the rules."""
    played: int
    """Deals that were played again by the bots."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """What could not be checked, and what explains itself."""

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings
