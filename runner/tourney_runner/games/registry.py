"""Which games there are.

The two bundled games are known by name; an installed package adds its own with an entry point
in the group ``tourney.games`` whose object is a `games.base.Game`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from tourney_runner.errors import UsageError
from tourney_runner.games.base import Game

__all__ = ["GROUP", "game", "names"]

GROUP = "tourney.games"
_BUNDLED = {"speahx": "tourney_runner.games.speahx", "tienlen": "tourney_runner.games.tienlen"}


def names() -> list[str]:
    """The names of all games, bundled and installed, sorted."""
    return sorted({*_BUNDLED, *(point.name for point in entry_points(group=GROUP))})


@cache
def game(name: str) -> Game[Any, Any]:
    """The game of that name, imported now.

    Raises:
        UsageError: There is none, or the installed package is broken.
    """
    if name in _BUNDLED:
        found: Any = import_module(_BUNDLED[name]).GAME
        return found  # type: ignore[no-any-return]
    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                found = point.load()
            except Exception as error:
                raise UsageError(
                    f"the game {name!r} of the installed package "
                    f"{point.dist.name if point.dist else point.value} does not load: {error}"
                ) from error
            if not isinstance(found, Game):
                raise UsageError(
                    f"the entry point {point.value} is not a tourney_runner.games.base.Game"
                )
            return found
    raise UsageError(f"there is no game {name!r}; the games are {', '.join(names())}")
