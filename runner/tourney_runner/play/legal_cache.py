"""Lists of legal plays, encoded for bots."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from tourney_runner.games.base import Game, State

__all__ = ["LegalLists"]

_MOST_KEPT = 1 << 15


class LegalLists:
    """The lists of legal plays of one game, encoded as JSON.

    The same few thousand plays are legal again and again, so each is encoded once and kept. This
    halves the cost of a list whose plays are known.
    """

    def __init__(self) -> None:
        self._kept: dict[Any, msgspec.Raw] = {}

    @staticmethod
    @cache
    def of(game: Game[Any, Any]) -> LegalLists:  # noqa: ARG004 - there is one for each
        """Return the lists of a game."""
        return LegalLists()

    def list(
        self, state: State[Any], mode: Literal["all", "canonical"]
    ) -> tuple[list[msgspec.Raw], str]:
        """Return the legal answers of the player to move without ids, and why some are left out."""
        listed = state.legal_actions(mode)
        kept = self._kept
        try:
            return [kept[action] for action in listed.actions], listed.left_out
        except KeyError:
            if len(kept) > _MOST_KEPT:
                kept.clear()
            new = [action for action in listed.actions if action not in kept]
            kept.update((it, msgspec.Raw(msgspec.json.encode(state.write(it)))) for it in new)
            return [kept[action] for action in listed.actions], listed.left_out
