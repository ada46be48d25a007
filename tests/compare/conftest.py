from __future__ import annotations

from whole_program import arena

__all__ = ["arena"]
