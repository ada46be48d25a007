"""The registry of games.

The two bundled games are known by name. An installed package adds a game with an entry point in the
group ``tourney.games`` whose object is a `games.base.Game`. It adds a family of games, all named
``FAMILY/NAME``, with one in the group ``tourney.game_families`` whose object takes NAME and returns
a `Game`, or raises ValueError with a reason. Entry points are imported only when one of their games
is requested.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.games.base import Answer, Game, GameOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BUNDLED",
    "FAMILIES",
    "GROUP",
    "Loaded",
    "claims",
    "exists",
    "families",
    "game",
    "loaded",
    "names",
]

GROUP = "tourney.games"
FAMILIES = "tourney.game_families"
_PARTS = {
    "options": GameOptions,
    "answer": Answer,
    "observation": msgspec.Struct,
    "event": msgspec.Struct,
}
"""The types that a game names, and what each of them extends."""
_MODULES = {"speahx": "tourney_runner.games.speahx", "tienlen": "tourney_runner.games.tienlen"}
BUNDLED = tuple(_MODULES)
"""The games that come with the program."""


class Loaded(NamedTuple):
    """All games except those of families, as far as their packages work."""

    games: dict[str, Game[Any, Any]]
    broken: dict[str, str]
    """Reasons why games cannot be used, by name."""


def names() -> list[str]:
    """Return the sorted names of all bundled and installed games, except those of families."""
    return sorted({*_MODULES, *(point.name for point in entry_points(group=GROUP))})


def families() -> list[str]:
    """Return the names of the installed families of games, sorted."""
    return sorted({point.name for point in entry_points(group=FAMILIES)})


def exists(name: object) -> bool:
    """Return whether there is a game of that name, or a family that may have it."""
    if not isinstance(name, str):
        return False
    family, slash, _ = name.partition("/")
    return name in _MODULES or name in names() or (bool(slash) and family in families())


def claims(claimed: Iterable[str] | None, name: object) -> bool:
    """Return whether a bot plays a game.

    Args:
        claimed: The games and families of games that it claims to play; None for all.
        name: The name of the game.
    """
    return claimed is None or bool({name, str(name).partition("/")[0]} & {*claimed})


def loaded() -> Loaded:
    """Import all games. A broken package does not affect the others."""
    games, broken = {}, {}
    for name in names():
        try:
            games[name] = game(name)
        except UsageError as error:
            broken[name] = str(error)
    return Loaded(games, broken)


@cache
def game(name: str) -> Game[Any, Any]:
    """Return the game with that name, importing it if necessary.

    Raises:
        UsageError: There is no such game, or the installed package is broken.
    """
    if name in _MODULES:
        found: Game[Any, Any] = import_module(_MODULES[name]).GAME
        return found
    family, _, member = name.partition("/")
    if member:
        for point in entry_points(group=FAMILIES):
            if point.name == family:
                return _member(point, member)
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _checked(_load(point), f"the entry point {point.value}", name)
    known = ", ".join([*names(), *(f"{family}/NAME" for family in families())])
    raise UsageError(f"there is no game {name!r}; the games are {known}")


def _member(point: EntryPoint, member: str) -> Game[Any, Any]:
    make = _load(point)
    name = f"{point.name}/{member}"
    try:
        found = make(member)
    except ValueError as error:
        raise UsageError(f"there is no game {name!r}: {error}") from error
    except Exception as error:
        raise UsageError(f"the game {name!r} {_origin(point)} does not load: {error!r}") from error
    return _checked(found, f"what {point.value} returns for {member!r}", name)


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"the game {point.name!r} {_origin(point)} does not load: {error}"
        ) from error


def _checked(found: Any, what: str, name: str) -> Game[Any, Any]:
    if not isinstance(found, Game):
        raise UsageError(f"{what} is not a tourney_runner.games.base.Game")
    if found.name != name:
        raise UsageError(f"{what} is a game named {found.name!r}, expected {name!r}")
    for part, kind in _PARTS.items():
        value = getattr(found, part, None)
        if not (isinstance(value, type) and issubclass(value, kind)):
            raise UsageError(
                f"the game {name}: `{part}` is not a class that extends {kind.__name__}"
            )
    for part in ("title", "summary"):
        if not isinstance(getattr(found, part, None), str):
            raise UsageError(f"the game {name}: `{part}` is not a text")
    chance = getattr(found, "draw_probability", None)
    if not isinstance(chance, float) or not 0 < chance < 1:
        raise UsageError(f"the game {name}: `draw_probability` is {chance!r}, expected 0.01 or so")
    if required := [key for key, one in found.options.model_fields.items() if one.is_required()]:
        raise UsageError(f"the game {name}: there is no default for {', '.join(required)}")
    try:
        found.options.model_validate({})
        msgspec.json.schema_components([found.answer, found.observation, found.event])
    except Exception as error:
        raise UsageError(f"the game {name}: its types are wrong: {error}") from error
    return found


def _origin(point: EntryPoint) -> str:
    return f"of the installed package {point.dist.name if point.dist else point.value}"
