"""Tien Len (Thirteen). Rules are cited by the ids of their source text (H1 ...; T1 ...)."""

from __future__ import annotations

from tourney_runner.games.tienlen.game import Tienlen

__all__ = ["GAME"]

GAME = Tienlen()
"""The registered instance."""
