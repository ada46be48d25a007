"""The tables and rules that a bot is tried with, derived from a game's own model of its options.

This works for any game: the smallest and the largest table, the defaults, every preset, and then
every option with each of its other values, as many together as are valid.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.games.base import Game, GameOptions

__all__ = ["Variant", "largest", "table_sizes", "variants"]


class Variant(NamedTuple):
    """One set of rules."""

    label: str
    options: GameOptions


def table_sizes(game: Game[Any, Any]) -> tuple[int, int, int]:
    """Return the smallest, the usual and the largest number of players."""
    field = game.options.model_json_schema()["properties"]["players"]
    return field["minimum"], field["default"], field["maximum"]


def variants(game: Game[Any, Any]) -> Iterator[Variant]:
    """Yield sets of rules that differ as much as the game allows, the usual ones first."""
    seen = []
    for variant in _all_variants(game):
        rules = variant.options.in_force()
        if rules not in seen:
            seen.append(rules)
            yield variant


def _all_variants(game: Game[Any, Any]) -> Iterator[Variant]:
    least, usual, _ = table_sizes(game)
    for players in dict.fromkeys((usual, least)):
        yield Variant(_players(players), game.options.model_validate({"players": players}))
    yield largest(game)
    choices = _choices(game)
    for preset in choices.pop("preset", ()):
        options = game.options.model_validate({"players": usual, "preset": preset})
        yield Variant(f"{_players(usual)}, preset {preset}", options)
    for turn in count():
        given = {name: values[turn] for name, values in choices.items() if turn < len(values)}
        if not given:
            return
        options = _fitting(game, {"players": usual}, given)
        yield Variant(f"{_players(usual)}, other rules {turn + 1}", options)


def largest(game: Game[Any, Any]) -> Variant:
    """Return the largest table, with as many cards as the rules allow."""
    most = table_sizes(game)[2]
    numbers = {
        name: max(values)
        for name, values in _choices(game).items()
        if all(type(value) is int for value in values)
    }
    options = _fitting(game, {"players": most}, numbers)
    more = [f"{name} {value}" for name, value in numbers.items() if getattr(options, name) == value]
    return Variant(", ".join([_players(most), *more]), options)


def _players(number: int) -> str:
    return f"{number} players"


def _fitting(game: Game[Any, Any], base: dict[str, Any], given: dict[str, Any]) -> GameOptions:
    """Return options with as many of the given values as are valid together."""
    rules = dict(base)
    for name, value in given.items():
        try:
            game.options.model_validate({**rules, name: value})
        except ValidationError:
            continue
        rules[name] = value
    options: GameOptions = game.options.model_validate(rules)
    return options


def _choices(game: Game[Any, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values other than the default, for each option with named values."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, field in game.options.model_fields.items():
        default = field.get_default(call_default_factory=True)
        values = tuple(value for value in _values(field.annotation) if value not in (default, None))
        if values:
            found[name] = values
    return found


def _values(annotation: Any) -> list[Any]:
    """Return the values that an annotation names; for a list of them, one value with all."""
    if annotation is bool:
        return [False, True]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) is tuple:
        named = _values(get_args(annotation)[0])
        return [tuple(named)] if named else []
    return [value for part in get_args(annotation) for value in _values(part)]
