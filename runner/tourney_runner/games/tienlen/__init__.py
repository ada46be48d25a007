"""Tien Len (Thirteen); the rules are cited by the ids of its source text (H1 ...; T1 ...)."""

from __future__ import annotations

from tourney_runner.games.tienlen.game import Tienlen

__all__ = ["GAME"]

GAME = Tienlen()
"""The game's entry in the registry."""
